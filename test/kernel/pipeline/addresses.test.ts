import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';

describe('the address of a backend', () => {
  let backend: TestBackend;

  beforeEach(async () => {
    backend = await startBackend(json({ a: 1 }));
  });
  afterEach(() => backend.close());

  it('may hold values of the client', async () => {
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
    const answer = await gateway.inject({ url: '/me', headers: { 'x-host': '127.0.0.1' } });
    equal(answer.body, '{"a":1}');
    deepEqual(
      backend.requests.map(({ target }) => target),
      ['/me/p'],
    );
    equal((await gateway.inject('/me')).statusCode, 400);
    equal(backend.requests.length, 1);
    await gateway.close();
  });

  it('never names another resource by a dot segment in a path variable', async () => {
    const gateway = await startGateway({
      host: [backend.url],
      endpoints: [{ endpoint: '/e/{id}/x', backend: [{ url_pattern: '/users/{id}/data' }] }],
    });
    const { port } = await gateway.listen();
    for (const id of ['..', '.', '%2e%2e', '%2E', '.%2e']) {
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

  for (const method of ['OPTIONS', 'TRACE', 'DELETE', 'PATCH']) {
    it(`is called with ${method} where the backend says so`, async () => {
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
