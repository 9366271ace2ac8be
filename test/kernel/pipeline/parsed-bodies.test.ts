import { deepEqual, equal, match } from 'node:assert/strict';
import type { Gateway } from '../../../kernel/sluice.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';

const MIB = 1024 * 1024;

describe('a request body that a component parses', () => {
  let backend: TestBackend;
  let gateway: Gateway;

  before(async () => {
    backend = await startBackend(json({}));
  });
  afterEach(() => gateway.close());
  after(() => backend.close());

  /** Statuses for a body of that length: of an endpoint that validates it, and of one that forwards it. */
  const statuses = async (bytes: number, root: object = {}, proxy: object = {}) => {
    const backends = [{ host: [backend.url], url_pattern: '/' }];
    gateway = await startGateway({
      ...root,
      endpoints: [
        {
          ...{ endpoint: '/parsed', method: 'POST', backend: backends },
          extra_config: { 'validation/json-schema': { type: 'array' }, ...proxy },
        },
        { endpoint: '/passed', method: 'POST', backend: backends, extra_config: proxy },
      ],
    });
    const payload = `[${' '.repeat(bytes - 2)}]`;
    const send = async (url: string) => (await gateway.inject({ method: 'POST', url, payload })).statusCode;
    return [await send('/parsed'), await send('/passed')];
  };
  const router = (max_payload: number) => ({ extra_config: { router: { max_payload } } });

  it('can be at most 1 MiB if no limit is configured', async () => {
    deepEqual(await statuses(MIB), [200, 200]);
    await gateway.close();
    deepEqual(await statuses(MIB + 1), [413, 200]);
  });

  it('can have any length if the limit is 0', async () => {
    deepEqual(await statuses(2 * MIB, router(0)), [200, 200]);
  });

  it('can be as long as the limit of the router, above and below the default', async () => {
    deepEqual(await statuses(2 * MIB, router(3 * MIB)), [200, 200]);
    await gateway.close();
    deepEqual(await statuses(1001, router(1000)), [413, 413]);
  });

  it('can be as long as the limit of its endpoint, even above the default', async () => {
    deepEqual(await statuses(2 * MIB, {}, { proxy: { max_payload: 3 * MIB } }), [200, 200]);
  });

  it('is limited at the root, before authentication and for unknown paths, and the log names the setting', async () => {
    const sinks = rememberingSinks();
    const operation = {
      type: 'header',
      target: 'X-A',
      expression: 'a',
      strategy: 'dotnotation',
      on_conflict: 'replace',
    };
    gateway = await startGateway(
      {
        extra_config: { 'modifier/request-body-extractor': { operations: [operation] } },
        endpoints: [{ endpoint: '/x', method: 'POST', backend: [{ host: [backend.url], url_pattern: '/' }] }],
      },
      { sinks },
    );
    const payload = `{"a":"${'x'.repeat(MIB)}"}`;
    for (const url of ['/x', '/nowhere'])
      equal((await gateway.inject({ method: 'POST', url, payload })).statusCode, 413);
    match(sinks.lines.join('\n'), /larger than 1048576 bytes, the default limit .*: set max_payload to change it/);
  });
});
