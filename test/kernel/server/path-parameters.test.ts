import { deepEqual, equal } from 'node:assert/strict';
import type { Gateway } from '../../../kernel/sluice.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { ask } from './ask.ts';

describe('the router option path_parameters', () => {
  let backend: TestBackend;
  let gateway: Gateway;
  let port: number;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway.close();
    (backend.requests as unknown[]).length = 0;
  });

  const start = async (router: object): Promise<void> => {
    const all = (endpoint: string) => ({ endpoint, output_encoding: 'no-op', backend: [{ url_pattern: '/b' }] });
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [all('/area/*'), all('/v/{id}'), all('/__catchall')],
      extra_config: { router },
    });
    ({ port } = await gateway.listen());
  };
  const paths = ['/area/private;a=b/x', '/area/private%3Ba=b/x', '/area/x%3b', '/v/7;a', '/other;a', '/__health;a'];

  it('accepts parameters in path segments by default', async () => {
    await start({});
    for (const path of paths) equal((await ask(port, `GET ${path}`)).status, 200, path);
    equal(backend.requests[0]!.target, '/b/private;a=b/x');
  });

  it('rejects requests with parameters in their path', async () => {
    await start({ path_parameters: 'refuse' });
    for (const path of paths) {
      const { status, text } = await ask(port, `GET ${path}`);
      deepEqual([status, text], [400, 'error: path parameters are not allowed'], path);
    }
    equal(backend.requests.length, 0);
  });

  it('ignores parameters in the query and in double-encoded paths', async () => {
    await start({ path_parameters: 'refuse' });
    for (const path of ['/area/x?a=1;b=2', '/area/x?a=%3b', '/v/7', '/__health']) {
      equal((await ask(port, `GET ${path}`)).status, 200, path);
    }
    equal((await ask(port, 'GET /v/a%253Bb')).text, 'error: encoded url params');
  });
});
