// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in a configuration are written so.
import { deepEqual, equal, match, notEqual, rejects } from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Configuration, SandboxRequest, SandboxResponse } from '#contract';
import { type OpenSandbox, openSandbox, type SandboxOptions } from '../../../kernel/sandbox/open-sandbox.ts';
import type { RefusedConnection, Session } from '../../../kernel/sandbox/session.ts';
import { catalogue } from '../../../plugins/index.ts';
import { PluginFolder } from '../../support/plugin-folder.ts';

class Recording implements Session {
  readonly requests: SandboxRequest[] = [];
  readonly refusals: RefusedConnection[] = [];
  readonly lines: string[] = [];
  readonly #answer: (request: SandboxRequest, count: number) => Partial<SandboxResponse> | null;

  constructor(answer: Recording['respond'] | ((request: SandboxRequest, count: number) => Partial<SandboxResponse>)) {
    this.#answer = answer;
  }

  respond(request: SandboxRequest): SandboxResponse | null {
    this.requests.push(request);
    const answer = this.#answer(request, this.requests.length);
    const headers = ['Content-Type', 'application/json'];
    return answer && { status: 200, headers, body: Buffer.from('{"id":1}'), delayMs: 0, ...answer };
  }

  refused(connection: RefusedConnection): void {
    this.refusals.push(connection);
  }

  logged(line: string): void {
    this.lines.push(line);
  }
}

describe('a sandbox', () => {
  const opened: OpenSandbox[] = [];
  const connecting = Socket.prototype.connect;
  const own = new Recording(() => ({}));

  const open = async (config: object, options?: SandboxOptions): Promise<OpenSandbox> => {
    const document = { version: 3, host: ['http://users.internal'], ...config } as unknown as Configuration;
    const sandbox = await openSandbox(catalogue, document, own, options);
    opened.push(sandbox);
    return sandbox;
  };
  const oneBackend = (backend: object = {}, endpoint: object = {}, root: object = {}) =>
    open({
      ...root,
      endpoints: [{ endpoint: '/users/{id}', ...endpoint, backend: [{ url_pattern: '/v1/{id}', ...backend }] }],
    });
  const get = { method: 'GET', url: '/users/7' } as const;

  afterEach(async () => {
    for (const sandbox of opened.splice(0)) await sandbox.close();
    own.refusals.length = 0;
  });

  it('leaves references to secrets as written, without waiting, if no mock answers for their store', async () => {
    const root = {
      'secrets/vault': { address: 'https://vault.internal', auth: { method: 'token', token: 'a' } },
      'auth/api-keys': { keys: [{ key: '${vault:kv/shop#key}', roles: ['user'] }] },
    };
    const sandbox = await oneBackend(
      {},
      { extra_config: { 'auth/api-keys': { roles: ['user'] } } },
      { extra_config: root },
    );
    const headers = { authorization: 'Bearer ${vault:kv/shop#key}' };
    const { statusCode } = await sandbox.inject(own, { ...get, headers });
    equal(statusCode, 200);
  });

  it('responds in place of a server to the request that the gateway would send', async () => {
    const session = new Recording(() => ({ body: Buffer.from('{"id":7,"hidden":1}') }));
    const sandbox = await oneBackend(
      { deny: ['hidden'] },
      { input_headers: ['X-Team'], input_query_strings: ['full'] },
    );
    const headers = { 'x-team': 'blue', 'x-other': '1' };
    const response = await sandbox.inject(session, { ...get, url: '/users/7?full=1&other=2', headers });
    equal(response.statusCode, 200);
    deepEqual(response.json(), { id: 7 });
    const [request] = session.requests;
    equal(`${request!.method} ${request!.url}`, 'GET http://users.internal/v1/7?full=1');
    const sent = Object.fromEntries(
      request!.headers.flatMap((name, at, all) => (at % 2 ? [] : [[name.toLowerCase(), all[at + 1]]])),
    );
    equal(sent['x-team'], 'blue');
    equal(sent['x-other'], undefined);
  });

  it('passes client bodies to mocks, and decompresses compressed responses', async () => {
    const headers = ['Content-Type', 'application/json', 'Content-Encoding', 'gzip'];
    const session = new Recording(() => ({ headers, body: gzipSync('{"ok":true}') }));
    const sandbox = await oneBackend({ method: 'POST' }, { method: 'POST' });
    const response = await sandbox.inject(session, { method: 'POST', url: '/users/1', payload: '{"name":"Ann"}' });
    deepEqual(response.json(), { ok: true });
    equal(Buffer.from(session.requests[0]!.body).toString(), '{"name":"Ann"}');
  });

  it('runs the retries of backends as the gateway does', async () => {
    const session = new Recording((_request, count) => (count < 3 ? { status: 503 } : {}));
    const retry = { 'backend/retry': { attempts: 3, status_codes: [503], backoff: { base: '1ms' } } };
    const sandbox = await oneBackend({ extra_config: retry });
    equal((await sandbox.inject(session, get)).statusCode, 200);
    equal(session.requests.length, 3);
  });

  for (const failure of ['refused', 'reset', 'timeout', 'dns', 'tls'] as const) {
    it(`fails a call once for a connection with the failure "${failure}"`, async () => {
      const session = new Recording(() => ({ failure }));
      const sandbox = await oneBackend();
      equal((await sandbox.inject(session, get)).statusCode, 500);
      equal(session.requests.length, 1);
    });
  }

  it('ends a call to a mocked server that does not respond at the timeout of its endpoint', async () => {
    const session = new Recording(() => ({ failure: 'hang' as const }));
    const sandbox = await oneBackend({}, { timeout: '30ms' });
    equal((await sandbox.inject(session, get)).statusCode, 500);
  });

  it('delays a response', async () => {
    const session = new Recording(() => ({ delayMs: 200 }));
    const sandbox = await oneBackend({}, { timeout: '30ms' });
    equal((await sandbox.inject(session, get)).statusCode, 500);
  });

  it('answers protocols other than HTTP, with the address of their server', async () => {
    const session = new Recording(() => ({}));
    const producer = { name: 'users', exchange: 'events', routing_key: 'Id' };
    const sandbox = await oneBackend({
      host: ['amqp://guest:secret@mq:5672'],
      disable_host_sanitize: true,
      extra_config: { 'backend/amqp/producer': producer },
    });
    equal((await sandbox.inject(session, get)).statusCode, 200);
    const [request] = session.requests;
    equal(request!.protocol, 'backend/amqp/producer');
    equal(request!.url, 'amqp://mq:5672/v1/7');
  });

  it('answers calls over protocols that plugins from files provide', async () => {
    const session = new Recording(() => ({}));
    const sandbox = await oneBackend(
      { host: ['lines://server:7000'], disable_host_sanitize: true, extra_config: { 'acme/lines': {} } },
      {},
      { plugin: { folder: 'samples/plugins/lines/' } },
    );
    deepEqual((await sandbox.inject(session, get)).json(), { id: 1 });
    const [request] = session.requests;
    equal(`${request!.protocol} ${request!.url}`, 'acme/lines lines://server:7000/v1/7');
  });

  it('answers requests for service records with the name of the record', async () => {
    const session = new Recording(() => ({}));
    const sandbox = await oneBackend({ host: ['_http._tcp.users.example'], sd: 'dns', disable_host_sanitize: true });
    equal((await sandbox.inject(session, get)).statusCode, 200);
    equal(session.requests[0]!.url, 'http://_http._tcp.users.example/v1/7');
  });

  it('refuses other connections, and names the component', async () => {
    const pools = [{ name: 'cache', address: '192.0.2.1:6379' }];
    await oneBackend({}, {}, { extra_config: { redis: { connection_pools: pools } } });
    while (own.refusals.length === 0) await delay(1);
    deepEqual(own.refusals[0], { owner: 'redis connection of cache', address: '192.0.2.1:6379' });
    while (!own.lines.some((line) => line.includes('the sandbox refuses connections'))) await delay(1);
  });

  it('does not open the ports of plugins', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const metrics = { 'telemetry/metrics': { listen_address: `127.0.0.1:${port}` } };
    const session = new Recording(() => ({}));
    const sandbox = await oneBackend({}, {}, { extra_config: metrics });
    equal((await sandbox.inject(session, get)).statusCode, 200);
    server.close();
  });

  for (const [kind, isolate] of [
    ['in its process', false],
    ['in a thread', true],
  ] as const) {
    it(`refuses connections of plugins ${kind}`, async () => {
      const folder = new PluginFolder();
      folder.write(
        'team.js',
        `import { connect } from 'node:net';
        const call = () => new Promise((resolve) => connect(9, '192.0.2.1').on('error', ({ message }) => resolve(message)));
        export const plugin = [{ name: 'dial', apiVersion: 1, isolate: ${isolate}, middleware: () => async () => ({ data: { error: await call() } }) }];`,
      );
      const named = { 'plugin/middleware': { name: ['dial'] } };
      const sandbox = await oneBackend({}, { extra_config: named }, { plugin: { folder: folder.path } });
      const { error } = (await sandbox.inject(new Recording(() => ({})), get)).json();
      match(error, /refuse.*192\.0\.2\.1:9/);
      folder.remove();
    });
  }

  it('does not restrict connections of code outside the sandbox', async () => {
    await oneBackend();
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.destroy();
    server.close();
    deepEqual(own.refusals, []);
  });

  it('has a clock that tests can set forward, so that rate limits accept requests again', async () => {
    const limit = { 'qos/ratelimit/router': { max_rate: 1, capacity: 1 } };
    const session = new Recording(() => ({}));
    const sandbox = await oneBackend({}, { extra_config: limit });
    equal((await sandbox.inject(session, get)).statusCode, 200);
    notEqual((await sandbox.inject(session, get)).statusCode, 200);
    sandbox.clock.advance(1000);
    equal((await sandbox.inject(session, get)).statusCode, 200);
  });

  it('attributes requests to the session that caused them', async () => {
    const sessions = [1, 2, 3].map((id) => new Recording(() => ({ delayMs: 5 * (3 - id) })));
    const sandbox = await oneBackend();
    await Promise.all(sessions.map((session, at) => sandbox.inject(session, { ...get, url: `/users/${at}` })));
    deepEqual(
      sessions.map(({ requests }) => requests.map(({ url }) => url)),
      [0, 1, 2].map((at) => [`http://users.internal/v1/${at}`]),
    );
  });

  it('sends requests without a mock to their server if network access is permitted', async () => {
    const server = createServer((_request, response) => response.end('{"real":true}')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const endpoints = [
      { endpoint: '/users/{id}', backend: [{ url_pattern: '/', host: [`http://127.0.0.1:${port}`] }] },
    ];
    const sandbox = await open({ endpoints }, { network: true });
    const response = await sandbox.inject(new Recording(() => null), get);
    equal(response.body, '{"real":true}');
    await sandbox.close();
    server.close();
  });

  it('permits only connections of HTTP requests without a mock with the network "http"', async () => {
    const server = createServer((_request, response) => response.end('{"real":true}')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const host = [`http://127.0.0.1:${port}`];
    const endpoints = [
      { endpoint: '/users/{id}', backend: [{ url_pattern: '/', host }] },
      {
        endpoint: '/http2/{id}',
        backend: [{ url_pattern: '/', host, extra_config: { 'backend/http/client': { http2: true } } }],
      },
    ];
    const sandbox = await open({ endpoints }, { network: 'http' });
    const session = new Recording(() => null);
    equal((await sandbox.inject(session, get)).body, '{"real":true}');
    // The server speaks HTTP/1 only: the connection is opened, and the request fails.
    equal((await sandbox.inject(session, { ...get, url: '/http2/1' })).statusCode, 500);
    deepEqual(session.refusals, []);
    await sandbox.close();
    server.close();
  });

  it('rejects an invalid configuration, and then allows connections again', async () => {
    await rejects(open({ endpoints: [{ endpoint: 'users', backend: [] }] }), /ENDPOINT_PATH|endpoint/);
    equal(Socket.prototype.connect, connecting);
  });
});
