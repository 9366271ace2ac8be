import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { ConfigErrors, DeniedAddresses } from '../../../kernel/contract/internal.ts';
import { backends, finding, findings } from '../../kernel/config/findings.ts';
import { freePort } from '../../support/conditions.ts';
import { json, startBackend, startGateway } from '../../support/gateway.ts';
import { startNginx, withoutNginx } from '../../support/nginx.ts';
import { Bench, errorOf, send } from './http-client.ts';

const host = '/endpoints/0/backend/0/host/0';

describe('backends on Unix sockets', () => {
  let folder: string;
  let path: string;
  let seen: IncomingMessage[];
  let gateway: Operations | null;
  const servers: Server[] = [];

  const serve = async (at: string, respond: RequestListener = (_request, response) => response.end('{"a":1}')) => {
    const server = createServer((request, response) => {
      seen.push(request);
      response.setHeader('Content-Type', 'application/json');
      respond(request, response);
    }).listen(at);
    servers.push(server);
    await once(server, 'listening');
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-backend-'));
    path = join(folder, 'app.sock');
    seen = [];
    gateway = null;
  });
  afterEach(async () => {
    await gateway?.close();
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
    rmSync(folder, { recursive: true });
  });

  const config = (backend: object = {}, fields: object = {}) => ({
    endpoints: [
      {
        endpoint: '/a',
        input_headers: ['*'],
        backend: [{ host: [`unix://${path}`], url_pattern: '/b?c=d', ...backend }],
      },
    ],
    ...fields,
  });
  const get = async (backend: object = {}, headers: Record<string, string> = {}) => {
    gateway = await startGateway(config(backend));
    return gateway.inject({ url: '/a', headers });
  };
  const refused = async (backend: object, fields: object = {}): Promise<[string, string][]> => {
    try {
      gateway = await startGateway(config(backend, fields));
    } catch (error) {
      if (error instanceof ConfigErrors) return error.errors.map(({ code, pointer }) => [code, pointer]);
      throw error;
    }
    return [];
  };

  it('are called with HTTP/1.1, and with localhost as the host', async () => {
    await serve(path);
    equal((await get()).body, '{"a":1}');
    const [{ url, httpVersion, headers }] = seen as [IncomingMessage];
    deepEqual([url, httpVersion, headers.host], ['/b?c=d', '1.1', 'localhost']);
  });

  it('get all requests over the same idle connection', async () => {
    await serve(path);
    await get();
    const { socket } = seen[0]!;
    await gateway!.inject('/a');
    equal(seen[1]!.socket, socket);
  });

  it('are balanced with other hosts', async () => {
    const other = await startBackend(json({ b: 1 }));
    await serve(path);
    gateway = await startGateway(config({ host: [`unix://${path}`, other.url] }));
    for (let count = 0; count < 20; count++) equal((await gateway.inject('/a')).statusCode, 200);
    await other.close();
    equal(seen.length > 0 && other.requests.length > 0, true);
  });

  it('can redirect to another path of their own, and to another server without sending it credentials', async () => {
    const other = await startBackend(json({ b: 1 }));
    await serve(path, ({ url }, response) => {
      const location = url === '/b?c=d' ? '/next' : `${other.url}/away`;
      response.writeHead(302, { Location: location }).end();
    });
    equal((await get({}, { authorization: 'Bearer x' })).body, '{"b":1}');
    await other.close();
    deepEqual(
      seen.map(({ url, headers }) => [url, headers.host, headers.authorization]),
      [
        ['/b?c=d', 'localhost', 'Bearer x'],
        ['/next', 'localhost', 'Bearer x'],
      ],
    );
    equal(other.requests[0]!.headers.authorization, undefined);
  });

  it('that do not exist fail the request with a reason', async () => {
    const bench = new Bench();
    try {
      const gate = await bench.client({}, { backend: { host: [`unix://${path}`] } });
      const error = errorOf(await send(gate, { origin: `unix://${path}` }));
      deepEqual(
        [error.code, error.message],
        ['BACKEND_REFUSED', `backend unix://${path}: the Unix socket does not exist`],
      );
    } finally {
      await bench.close();
    }
  });

  it('are called only if the configuration lists them, even if a request or a script names others', async () => {
    await serve(path);
    const bench = new Bench();
    try {
      const gate = await bench.client({}, { backend: { host: ['http://one.test'] } });
      for (const origin of [`unix://${path}`, 'unix://', 'unix://localhost']) {
        equal(errorOf(await send(gate, { origin })).code, 'BACKEND_REQUEST_INVALID');
      }
    } finally {
      await bench.close();
    }
    const placeholder = { host: ['{input_headers.X-Host}'], disable_host_sanitize: true };
    equal((await get(placeholder, { 'x-host': `unix://${path}` })).statusCode, 500);
    equal(seen.length, 0);
  });

  it("cannot be the gateway's admin socket, not even through a symbolic link", async () => {
    await serve(path);
    const link = join(folder, 'link.sock');
    symlinkSync(path, link);
    const denied = new DeniedAddresses();
    denied.deny({ address: `unix:${path}`, port: 0 });
    const bench = new Bench();
    try {
      const origin = `unix://${link}`;
      const gate = await bench.client({}, { backend: { host: [origin] }, services: { denied } });
      equal(errorOf(await send(gate, { origin })).code, 'BACKEND_DENIED');
      equal(seen.length, 0);
    } finally {
      await bench.close();
    }
    const api = { extra_config: { 'admin/api': { listen: `unix:${path}` } } };
    deepEqual(await refused({}, api), [['ADMIN_BACKEND', '/endpoints/0/backend/0/host/0']]);
  });

  it('cause a warning if they belong to the gateway itself', () => {
    const document = backends([{ host: ['unix:///run/a.sock'] }], {}, { listen_ip: 'unix:/run/a.sock' });
    equal(finding(document, 'LOOP').pointer, host);
    const other = backends([{ host: ['unix:///run/b.sock'] }], {}, { listen_ip: 'unix:/run/a.sock' });
    equal(findings(other, 'LOOP').length, 0);
  });

  const client = '/endpoints/0/backend/0/extra_config/backend~1http~1client';
  const cases: [title: string, backend: object, expected: [string, string]][] = [
    ['a relative path', { host: ['unix://run/app.sock'] }, ['HOST_INVALID', host]],
    ['a base path after a slash', { host: ['unix:///run/app.sock/'] }, ['HOST_INVALID', host]],
    ['one slash', { host: ['unix:/run/app.sock'] }, ['HOST_INVALID', host]],
    ['more than 107 bytes', { host: [`unix:///${'é'.repeat(54)}`] }, ['HOST_INVALID', host]],
    [
      'placeholders',
      { host: ['unix:///run/{input_headers.X-App}.sock'], disable_host_sanitize: true },
      ['BACKEND_SCHEME', host],
    ],
    ['HTTP/2', { extra_config: { 'backend/http/client': { http2: true } } }, ['HTTP_SOCKET', `${client}/http2`]],
    [
      'a proxy',
      { extra_config: { 'backend/http/client': { proxy_address: 'http://proxy.test:3128' } } },
      ['HTTP_SOCKET', `${client}/proxy_address`],
    ],
  ];
  for (const [title, backend, expected] of cases) {
    it(`are rejected with ${title}`, async () => deepEqual(await refused(backend), [expected]));
  }

  it('are rejected by protocols other than HTTP', async () => {
    const endpoint = {
      endpoint: '/live',
      extra_config: { websocket: {} },
      backend: [{ host: [`unix://${path}`], url_pattern: '/', disable_host_sanitize: true }],
    };
    deepEqual(await refused({}, { endpoints: [endpoint] }), [['BACKEND_SCHEME', host]]);
  });

  (withoutNginx ? it.skip : it)(`can be nginx${withoutNginx ? ` (${withoutNginx})` : ''}`, async () => {
    const port = await freePort();
    const stop = await startNginx(
      port,
      `http { access_log off; server { listen unix:${path}; listen 127.0.0.1:${port};
         location / { default_type application/json; return 200 '{"host":"$http_host"}'; } } }`,
    );
    try {
      chmodSync(path, 0o666);
      equal((await get()).body, '{"host":"localhost"}');
    } finally {
      await stop();
    }
  });
});
