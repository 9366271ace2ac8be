import { deepEqual, equal, rejects } from 'node:assert/strict';
import { after, atBackend, atService, definePlugin, type PipeRequest, Reply } from '#contract';
import type { Gateway } from '../../../kernel/index.ts';
import { startWith } from '../../support/plugged.ts';

const schema = {
  type: 'object',
  properties: { file: { type: 'string', description: 'A file.', default: '' } },
} as const;

/** A protocol that answers every call itself. */
const protocol = definePlugin({
  name: 'test/protocol',
  description: 'Answers with data.',
  places: [
    atBackend(schema, ({ config, read }) => {
      if (config.file !== '') read(config.file);
      return { protocol: { hostless: true, replies: 'data', call: () => Reply.data({ seen: [] }) } };
    }),
  ],
});

const endpoints = ['/a', '/b'].map((endpoint) => ({
  endpoint,
  backend: ['/1', '/2'].map((url_pattern) => ({ url_pattern, extra_config: { 'test/protocol': {} } })),
}));

describe('a component of the service that attaches to all endpoints', () => {
  let gateway: Gateway | undefined;
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  it('wraps each endpoint and each backend, and knows the position of each in the configuration', async () => {
    const places: string[] = [];
    const passed: string[] = [];
    const passing = (what: string) => after<PipeRequest>(() => void passed.push(what));
    const each = definePlugin({
      name: 'test/each',
      description: 'Stands everywhere.',
      places: [
        atService(schema, () => ({
          eachEndpoint: ({ endpoint, pointer }) => {
            places.push(`${pointer} ${endpoint.endpoint}`);
            return { proxy: passing(endpoint.endpoint) };
          },
          eachBackend: ({ backend, endpoint, index, pointer }) => {
            places.push(`${pointer} ${endpoint.endpoint} ${backend.url_pattern} ${index}`);
            return { backend: passing(`${endpoint.endpoint}${backend.url_pattern}`) };
          },
        })),
      ],
    });
    gateway = await startWith([each, protocol], { endpoints, extra_config: { 'test/each': {} } });
    deepEqual(places.sort(), [
      '/endpoints/0 /a',
      '/endpoints/0/backend/0 /a /1 0',
      '/endpoints/0/backend/1 /a /2 1',
      '/endpoints/1 /b',
      '/endpoints/1/backend/0 /b /1 0',
      '/endpoints/1/backend/1 /b /2 1',
    ]);
    equal((await gateway.inject('/b')).statusCode, 200);
    deepEqual(passed, ['/b/1', '/b/2', '/b']);
  });

  it('is reported at its own place if it fails', async () => {
    const failing = definePlugin({
      name: 'test/each',
      description: 'Fails everywhere.',
      places: [
        atService(schema, ({ fault }) => ({
          eachBackend: () => {
            throw fault('TEST_EACH', '/file', 'it broke');
          },
        })),
      ],
    });
    await rejects(startWith([failing, protocol], { endpoints, extra_config: { 'test/each': {} } }), /TEST_EACH/);
  });
});

describe('a component that cannot be attached', () => {
  const backend = (file: string) => [{ url_pattern: '/', extra_config: { 'test/protocol': { file } } }];

  it('is reported at its place if it cannot read a file', async () => {
    const config = { endpoints: [{ endpoint: '/a', backend: backend('/no/such/file') }] };
    await rejects(
      startWith([protocol], config),
      ({ errors: [error] }: { errors: { code: string; pointer: string; message: string; cause: unknown }[] }) => {
        deepEqual(
          [error!.code, error!.pointer, error!.message],
          [
            'FILE_UNREADABLE',
            '/endpoints/0/backend/0/extra_config/test~1protocol/file',
            'cannot read /no/such/file: no such file',
          ],
        );
        equal((error!.cause as NodeJS.ErrnoException).code, 'ENOENT');
        return true;
      },
    );
  });
});
