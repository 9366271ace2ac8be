import { deepEqual, equal, match } from 'node:assert/strict';
import {
  type AtBackend,
  type AtEndpoint,
  type AtService,
  atBackend,
  atEndpoint,
  atService,
  definePlugin,
  Reply,
} from '#contract';
import { ConfigErrors, silentSinks } from '../../../kernel/contract/internal.ts';
import type { Gateway } from '../../../kernel/index.ts';
import { until } from '../../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

const open = { type: 'object', properties: {} } as const;

/** Two independent components that implement the same part of the pipeline. */
function rivals(section: { service?: AtService; endpoint?: AtEndpoint; backend?: AtBackend }) {
  return ['test/first', 'test/second'].map((name) =>
    definePlugin({
      name,
      description: 'Brings what another one brings too.',
      places: [
        atService(open, () => section.service ?? {}),
        atEndpoint(open, () => section.endpoint ?? {}),
        atBackend(open, () => section.backend ?? {}),
      ],
    }),
  );
}

const both = { 'test/first': {}, 'test/second': {} };
const format = () => '';
const shape: AtBackend['shape'] = (data) => data;

describe('two components with a setting that only one component may provide', () => {
  for (const [what, section, does] of [
    [
      'a way to call the backends',
      { endpoint: { gather: { name: 'first', over: ([first]) => first! } } },
      'decide how the backends are called',
    ],
    ['a way to merge', { endpoint: { combine: (sections) => sections[0]! } }, 'decide how the responses are merged'],
    ['the shape of a backend', { backend: { shape } }, 'reshape the response of a backend'],
    ['a shadow', { backend: { shadow: {} } }, 'make a backend a shadow'],
    ['a level', { service: { logging: { level: 'INFO' } } }, 'set the level of the application log'],
    ['a format', { service: { logging: { format } } }, 'decide the format of the application log'],
    ['a sink', { service: { logging: { accessSink: silentSinks.stdout } } }, 'set the destination of the access log'],
    ['settings of reloads', { service: { reload: reload() } }, 'decide how configurations are replaced'],
  ] satisfies [string, Parameters<typeof rivals>[0], string][]) {
    it(`are rejected, and the error names both: ${what}`, async () => {
      const level = Object.keys(section)[0]!;
      const at = (here: string) => (level === here ? { extra_config: both } : {});
      const backend = [
        { host: ['http://127.0.0.1:9'], url_pattern: '/', ...at('backend') },
        { host: ['http://127.0.0.1:9'], url_pattern: '/other' },
      ];
      const config = { ...at('service'), endpoints: [{ endpoint: '/a', backend, ...at('endpoint') }] };
      const refused = await startWith(rivals(section), config).then(
        () => null,
        (error: unknown) => error,
      );
      equal(refused instanceof ConfigErrors, true, String(refused));
      const [error] = (refused as ConfigErrors).errors;
      deepEqual(
        [error!.code, error!.message],
        ['PLUGINS_CONFLICT', `"test/first" and "test/second" cannot both ${does}`],
      );
      match(error!.pointer, /test~1second$/);
      match(error!.related[0]!, /test~1first$/);
    });
  }
});

function reload() {
  return { drainMs: 1, streamDrainMs: 1, maxDraining: 1, guardMs: 0 };
}

describe('two components with settings that are combined', () => {
  let gateway: Gateway | undefined;
  let backend: TestBackend;
  const log: string[] = [];

  beforeEach(async () => {
    log.length = 0;
    backend = await startBackend(json({ a: 1 }));
  });
  afterEach(async () => {
    await gateway?.close();
    await backend.close();
  });

  const writes = (name: string, write: () => void) =>
    definePlugin({
      name,
      description: 'Has an access log of its own.',
      places: [
        atService(open, () => ({
          logging: {
            access: ({ status, path }) => {
              log.push(`${name} ${status} ${path}`);
              write();
            },
          },
        })),
      ],
    });

  it('both write to the access log in order, even if the first fails', async () => {
    const fails = writes('test/first', () => {
      throw new Error('no room');
    });
    gateway = await startWith([fails, writes('test/second', () => {})], { extra_config: both, endpoints: [] });
    const { port } = await gateway.listen();
    await (await fetch(`http://127.0.0.1:${port}/none`)).text();
    await until(() => log.length === 2);
    deepEqual(log, ['test/first 404 /none', 'test/second 404 /none']);
  });

  it('both reshape the merged data of an endpoint, the last one in the file first', async () => {
    const reshapes = (name: string) =>
      definePlugin({
        name,
        description: 'Reshapes.',
        places: [atEndpoint(open, () => ({ shape: (data) => ({ [name]: data }) }))],
      });
    const of = { host: [backend.url], url_pattern: '/' };
    gateway = await startWith([reshapes('test/first'), reshapes('test/second')], {
      endpoints: [{ endpoint: '/a', backend: [of, of], extra_config: both }],
    });
    const { body } = await gateway.inject({ url: '/a' });
    deepEqual(JSON.parse(body), { 'test/first': { 'test/second': { a: 1 } } });
  });

  it('are rejected, and the error names both, if both are the protocol of one backend', async () => {
    const reaches = ['test/first', 'test/second'].map((name) =>
      definePlugin({
        name,
        description: 'Reaches a backend.',
        places: [atBackend(open, () => ({ protocol: { call: () => new Reply(200), hostless: true } }))],
      }),
    );
    const endpoints = [{ endpoint: '/a', backend: [{ url_pattern: '/', extra_config: both }] }];
    const refused = await startWith(reaches, { endpoints }).catch((error: ConfigErrors) => error);
    equal(
      (refused as ConfigErrors).errors[0]!.message,
      '"test/first" and "test/second" cannot both call the same backend',
    );
  });
});
