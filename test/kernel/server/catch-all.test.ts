import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';

import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { ask } from './ask.ts';

const at = (line: string, pattern = line.split(' ')[1]!): object => {
  const [method, endpoint] = line.split(' ');
  return { endpoint, method, backend: [{ url_pattern: pattern }] };
};

describe('the endpoint /__catchall', () => {
  let backend: TestBackend;
  let gateway: Operations | null = null;
  let port: number;

  before(async () => {
    backend = await startBackend((seen, response) => json({ saw: `${seen.method} ${seen.target}` })(seen, response));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = null;
    (backend.requests as unknown[]).length = 0;
  });

  const start = async (endpoints: object[], router: object = {}, more: object = {}): Promise<void> => {
    gateway = await startGateway({ host: [backend.url], endpoints, extra_config: { router }, ...more });
    ({ port } = await gateway.listen());
  };

  /** Result of a request: the target of the backend request, or the status with text or location. */
  const leadsTo = async (line: string, headers: Record<string, string> = {}): Promise<unknown> => {
    const { status, text, headers: got } = await ask(port, line, { headers });
    if (status === 200) return backend.requests.at(-1)!.target;
    return [status, got.location ?? text];
  };

  const all = { endpoint: '/__catchall', backend: [{ url_pattern: '/base' }] };

  it('serves all requests that match no other endpoint, with all headers and parameters', async () => {
    await start([all, at('GET /x')]);
    equal(await leadsTo('GET /x'), '/x');
    equal(await leadsTo('DELETE /any/where?a=1', { 'X-Own': 'yes' }), '/base/any/where?a=1');
    equal(backend.requests.at(-1)!.headers['x-own'], 'yes');
    equal(await leadsTo('POST /x'), '/base/x');
    equal(await leadsTo('GET /X'), '/base/X');
    match((await ask(port, 'GET /__health')).text, /"status":"ok"/);
  });

  for (const path of [
    '/../admin',
    '/%2e%2e/admin',
    '/..%2fadmin',
    '/a/./b',
    '/a/..;v=1/b',
    '//admin',
    '/a\\b',
    '/a%5Cb',
    '/a%00b',
    '/%252e%252e/admin',
    '/a%3Fb',
  ]) {
    it(`rejects ${path}, as wildcard endpoints do`, async () => {
      await start([all, at('GET /x/*')]);
      equal((await ask(port, `GET ${path}`)).status, 400);
      equal((await ask(port, `GET /x${path}`)).status, 400);
      equal(backend.requests.length, 0);
    });
  }

  it('receives the cleaned path with remove_extra_slash', async () => {
    await start([all], { remove_extra_slash: true });
    equal(await leadsTo('GET /a/..//../b'), '/base/b');
  });

  it("calls its backend with the client's method, unless the backend declares one", async () => {
    await start([all]);
    await ask(port, 'DELETE /x');
    equal(backend.requests.at(-1)!.method, 'DELETE');
    await gateway!.close();
    await start([{ ...all, backend: [{ url_pattern: '/base', method: 'PUT' }] }]);
    await ask(port, 'DELETE /x');
    equal(backend.requests.at(-1)!.method, 'PUT');
  });

  it('warns about settings that it ignores', async () => {
    const sinks = rememberingSinks();
    gateway = await startGateway(
      { host: [backend.url], endpoints: [{ ...all, output_encoding: 'json', input_headers: ['A'] }] },
      { sinks },
    );
    ok(
      gateway.status.warnings.length > 0 || sinks.lines.some((line) => /ERROR|WARN/.test(line)),
      JSON.stringify(sinks.lines),
    );
  });

  it('answers HEAD with the length that the backend reports', async () => {
    await start([{ ...all, backend: [{ url_pattern: '/base', method: 'GET' }] }]);
    const response = await ask(port, 'HEAD /x');
    deepEqual([response.status, response.text], [200, '']);
    ok(Number(response.headers['content-length']) > 0);
  });
});
