import { deepEqual, equal } from 'node:assert/strict';
import { type AtBackend, atBackend, definePlugin } from '#contract';
import type { Operations } from '#kernel';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

const schema = {
  type: 'object',
  properties: { header: { type: 'string', description: 'Which it asks for; else it is the fallback.' } },
} as const;

/** A condition that calls a backend if the client sends a header, or if no other backend is called. */
const asked = (seen: string[]) =>
  definePlugin({
    name: 'test/asked',
    description: 'Calls a backend for some requests.',
    meaning: (_config, level) => (level === 'backend' ? { chosen: true } : {}),
    places: [
      atBackend(
        schema,
        ({ config: { header } }): AtBackend => ({
          condition: {
            holds: header
              ? ({ headers }) => {
                  seen.push(header);
                  return headers.get(header) !== undefined;
                }
              : null,
          },
        }),
      ),
    ],
  });

describe('a condition on a backend', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let seen: string[];

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ [target.slice(1)]: true }));
    });
  });
  after(() => backend.close());
  beforeEach(() => {
    seen = [];
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const on = (path: string, config: object | null) => ({
    host: [backend.url],
    url_pattern: path,
    ...(config && { extra_config: { 'test/asked': config } }),
  });
  const start = async (backends: object[], extra: object = {}) => {
    gateway = await startWith([asked(seen)], {
      endpoints: [{ endpoint: '/a', input_headers: ['*'], backend: backends, extra_config: extra }],
    });
  };
  const answer = async (...headers: string[]) => {
    const response = await gateway!.inject({
      url: '/a',
      headers: Object.fromEntries(headers.map((name) => [name, '1'])),
    });
    return [response.statusCode, response.json(), response.headers['x-gateway-completed']];
  };

  it('decides per request whether it is called; a skipped backend leaves the response complete', async () => {
    const before = backend.requests.length;
    await start([on('/x', { header: 'x' }), on('/y', { header: 'y' }), on('/z', null)]);
    deepEqual(await answer('x'), [200, { x: true, z: true }, 'true']);
    deepEqual(await answer(), [200, { z: true }, 'true']);
    equal(backend.requests.length - before, 3);
  });

  it('without an expression is true if no condition with an expression is, in any position', async () => {
    await start([on('/other', {}), on('/x', { header: 'x' }), on('/y', { header: 'y' })]);
    deepEqual(await answer('y'), [200, { y: true }, 'true']);
    deepEqual(await answer(), [200, { other: true }, 'true']);
  });

  it('is evaluated once per request, before any backend is called', async () => {
    await start([on('/x', { header: 'x' }), on('/y', { header: 'y' })]);
    await answer('x', 'y');
    deepEqual(seen, ['x', 'y']);
  });

  it('is evaluated before each call if the backends are sequential', async () => {
    await start([on('/x', { header: 'x' }), on('/y', { header: 'y' })], { proxy: { sequential: true } });
    deepEqual(await answer('y'), [200, { y: true }, 'true']);
    deepEqual(seen, ['x', 'y']);
  });

  it('that is false for every backend results in an empty, complete response', async () => {
    const before = backend.requests.length;
    await start([on('/x', { header: 'x' }), on('/y', { header: 'y' })]);
    deepEqual(await answer(), [200, {}, 'true']);
    equal(backend.requests.length, before);
  });
});
