import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { ask } from '../server/ask.ts';

describe('the address of a backend', () => {
  let backend: TestBackend;

  beforeEach(async () => {
    backend = await startBackend(json({ a: 1 }));
  });
  afterEach(() => backend.close());

  it('can contain values from the request', async () => {
    const { port } = new URL(backend.url);
    const gateway = await startGateway({
      endpoints: [
        {
          endpoint: '/{name}',
          backend: [
            {
              host: [`http://{input_headers.X-Host}:${port}/{name}`],
              disable_host_sanitize: true,
              url_pattern: '/p',
            },
          ],
        },
      ],
    });
    const response = await gateway.inject({ url: '/me', headers: { 'x-host': '127.0.0.1' } });
    equal(response.body, '{"a":1}');
    deepEqual(
      backend.requests.map(({ target }) => target),
      ['/me/p'],
    );
    equal((await gateway.inject('/me')).statusCode, 400);
    equal(backend.requests.length, 1);
    await gateway.close();
  });

  it('is rejected if values from the request make it invalid, and no backend is called', async () => {
    const { port } = new URL(backend.url);
    const host = [`http://{input_headers.X-Host}:${port}`];
    const gateway = await startGateway({
      extra_config: { router: { return_error_msg: true } },
      endpoints: [{ endpoint: '/x', backend: [{ host, disable_host_sanitize: true, url_pattern: '/' }] }],
    });
    for (const name of ['a b', '127.0.0.1/@', '[::1', 'a:b@127.0.0.1', '999.0.0.1']) {
      const { statusCode, body } = await gateway.inject({ url: '/x', headers: { 'x-host': name } });
      deepEqual([statusCode, body], [500, 'invalid backend address'], name);
    }
    equal(backend.requests.length, 0);
    await gateway.close();
  });

  it('never leads to another resource through a dot segment (. or ..) in a path variable', async () => {
    const gateway = await startGateway({
      host: [backend.url],
      endpoints: [{ endpoint: '/e/{id}/x', backend: [{ url_pattern: '/users/{id}/data' }] }],
    });
    const { port } = await gateway.listen();
    for (const id of ['..', '.', '%2e%2e', '%2E', '.%2e', '..;x=1', '.;', '%2e.%3Bx']) {
      const sent = request({ port, host: '127.0.0.1', path: `/e/${id}/x`, agent: false }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      equal(response.statusCode, 400, id);
    }
    equal(backend.requests.length, 0);
    const sent = request({ port, host: '127.0.0.1', path: '/e/...%3A/x', agent: false }).end();
    await once(sent, 'response');
    equal(backend.requests[0]!.target, '/users/...:/data');
    await gateway.close();
  });

  it('never leads to another resource if a value and the adjacent text form a dot segment', async () => {
    const gateway = await startGateway({
      disable_rest: true,
      endpoints: [
        { endpoint: '/e/{a}-{b}', backend: [{ host: [backend.url], url_pattern: '/x/.{a}{b}/y' }] },
        {
          endpoint: '/h/{a}',
          backend: [{ host: [`${backend.url}/{a}`], disable_host_sanitize: true, url_pattern: '/y' }],
        },
      ],
    });
    const { port } = await gateway.listen();
    for (const path of ['/e/;-x', '/e/.-;', '/h/..', '/h/.']) equal((await ask(port, `GET ${path}`)).status, 400, path);
    equal(backend.requests.length, 0);
    equal((await ask(port, 'GET /e/a-b')).status, 200);
    equal(backend.requests[0]!.target, '/x/.ab/y');
    await gateway.close();
  });

  it('is incomplete if a value is empty', async () => {
    const at = (endpoint: string, pattern: string, host = backend.url): object => ({
      endpoint,
      backend: [{ host: [host], disable_host_sanitize: true, url_pattern: pattern }],
    });
    const { port: there } = new URL(backend.url);
    const gateway = await startGateway({
      endpoints: [
        at('/header', '/t/{input_headers.X-A}/end'),
        at('/query', '/t/{input_query_strings.a}/end'),
        at('/inside', '/t-{input_query_strings.a}'),
        at('/host', '/', `http://127.0.0.1{input_headers.X-A}:${there}`),
        at('/own', '/t?a={input_query_strings.a}'),
        {
          endpoint: '/both',
          backend: [
            { host: [backend.url], url_pattern: '/{input_headers.X-A}' },
            { host: [backend.url], url_pattern: '/' },
          ],
        },
      ],
    });
    const { port } = await gateway.listen();
    const headers = { 'X-A': '' };
    for (const path of ['/header', '/query?a=', '/query?a=&a=b', '/inside?a', '/host', '/both']) {
      equal((await ask(port, `GET ${path}`, { headers })).status, 400, path);
    }
    equal(backend.requests.length, 0);
    equal((await ask(port, 'GET /own?a=')).status, 200);
    equal(backend.requests[0]!.target, '/t?a=');
    await gateway.close();
  });

  for (const method of ['OPTIONS', 'TRACE', 'DELETE', 'PATCH']) {
    it(`is called with ${method} if the backend sets it`, async () => {
      const gateway = await startGateway({
        host: [backend.url],
        endpoints: [{ endpoint: '/x', backend: [{ url_pattern: '/', method }] }],
      });
      equal((await gateway.inject('/x')).body, '{"a":1}');
      equal(backend.requests[0]!.method, method);
      await gateway.close();
    });
  }
});
