import { deepEqual, equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { type Certificates, type KeyPair, makeCertificates } from '../../support/certificates.ts';
import { setEnvironment } from '../../support/environment.ts';
import { startNats, withoutNats } from '../../support/nats.ts';
import { createFolder, type Folder, sluice, sluiceIn } from './command.ts';

/** A server, the data that it has received, and the number of its connections. */
interface Counted {
  readonly port: number;
  readonly bytes: number;
  readonly connections: number;
}

const service = (...hosts: string[][]) => ({
  version: 3,
  endpoints: hosts.map((host, index) => ({ endpoint: `/e${index}`, backend: [{ url_pattern: '/', host }] })),
});

describe('check --connect', () => {
  let folder: Folder;
  let certificates: Certificates;
  let authority: KeyPair;
  const servers = new Set<Server>();
  const sockets = new Set<Socket>();

  before(() => {
    folder = createFolder();
    certificates = makeCertificates();
    authority = certificates.authority('authority');
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
    sockets.clear();
    servers.clear();
  });
  after(() => {
    folder.remove();
    certificates.remove();
  });

  async function listen(server: Server): Promise<Counted> {
    servers.add(server);
    const counted = { port: 0, bytes: 0, connections: 0 };
    const isTls = 'setSecureContext' in server;
    server.on('connection', (socket: Socket) => {
      counted.connections++;
      sockets.add(socket);
      socket.on('error', () => {});
      if (!isTls) socket.on('data', (chunk) => (counted.bytes += chunk.length));
    });
    server.on('secureConnection', (socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => (counted.bytes += chunk.length));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    counted.port = (server.address() as AddressInfo).port;
    return counted;
  }
  const listenPlain = () => listen(createServer());
  const listenTls = (pair: KeyPair) =>
    listen(createTlsServer({ cert: pair.certificatePem, key: pair.privateKeyPem }).on('tlsClientError', () => {}));
  /** A port on which no server listens. */
  async function closedPort(): Promise<number> {
    const server = createServer();
    const { port } = await listen(server);
    server.close();
    await once(server, 'close');
    return port;
  }
  const check = (content: unknown, ...flags: string[]) =>
    sluice('check', ...flags, '-c', folder.write('g.json', content));
  async function issues(content: unknown, ...flags: string[]) {
    const { out, code } = await check(content, '--connect', '--format', 'json', ...flags);
    equal(code, 1);
    return (JSON.parse(out) as { errors: Record<string, unknown>[] }).errors;
  }

  it('does not connect without the flag', async () => {
    const server = await listenPlain();
    for (const flags of [[], ['-t'], ['-l']]) {
      const { code, out } = await check(service([`http://127.0.0.1:${server.port}`]), ...flags);
      equal(code, 0);
      match(out, /^Syntax OK!$/m);
    }
    equal(server.connections, 0);
  });

  it('connects to every address once, sends nothing, and prints the number of addresses', async () => {
    const [one, other] = [await listenPlain(), await listenPlain()];
    const [first, second] = [`http://127.0.0.1:${one.port}`, `http://127.0.0.1:${other.port}`];
    const { code, out } = await check(service([first, second], [first], [`${first}/`]), '--connect');
    equal(code, 0);
    match(out, /^Syntax OK! 2 addresses are reachable\.$/m);
    deepEqual([one.connections, one.bytes, other.connections, other.bytes], [1, 0, 1, 0]);
  });

  it('reports each host that refuses connections at its place, and the other places that name it', async () => {
    const server = await listenPlain();
    const port = await closedPort();
    const dead = `http://127.0.0.1:${port}`;
    const found = await issues(service([`http://127.0.0.1:${server.port}`, dead], [dead]));
    deepEqual(
      found.map(({ code, pointer, message }) => [code, pointer, message]),
      [['CONNECT_REFUSED', '/endpoints/0/backend/0/host/1', `127.0.0.1:${port} refuses connections`]],
    );
    deepEqual(
      (found[0]!['related'] as { pointer: string }[]).map(({ pointer }) => pointer),
      ['/endpoints/1/backend/0/host/0'],
    );
  });

  it('connects to Unix sockets, and reports those that do not exist', async () => {
    const path = folder.path('app.sock');
    const server = createServer((socket) => socket.end()).listen(path);
    await once(server, 'listening');
    const found = await issues(service([`unix://${path}`, `unix://${path}-none`]));
    server.close();
    deepEqual(
      found.map(({ code, pointer }) => [code, pointer]),
      [['CONNECT_FAILED', '/endpoints/0/backend/0/host/1']],
    );
    match(String(found[0]!['message']), /^unix:\/\/.*app\.sock-none does not accept connections: /);
  });

  it('prints the error with file, line and hint', async () => {
    const port = await closedPort();
    const { code, err, out } = await check(service([`http://127.0.0.1:${port}`]), '--connect');
    equal(code, 1);
    match(err, /^ERROR testing the configuration file:\t1 of 1 addresses are unreachable$/m);
    match(err, new RegExp(`g\\.json:\\d+:\\d+: error: 127\\.0\\.0\\.1:${port} refuses connections`));
    match(err, /hint: check that a server listens at this address/);
    equal(/Syntax OK/.test(out), false);
  });

  it('points to the root for hosts that backends inherit', async () => {
    const port = await closedPort();
    const endpoints = [{ endpoint: '/a', backend: [{ url_pattern: '/' }] }];
    const found = await issues({ version: 3, host: [`http://127.0.0.1:${port}`], endpoints });
    deepEqual(
      found.map(({ pointer, line }) => [pointer, line]),
      [['/host/0', 4]],
    );
  });

  it('reports a host name that cannot be resolved', async () => {
    const [found] = await issues(service(['http://nowhere.invalid']));
    deepEqual([found!['code'], found!['pointer']], ['CONNECT_NAME', '/endpoints/0/backend/0/host/0']);
    match(String(found!['message']), /^nowhere\.invalid:80 cannot be resolved: E/);
  });

  it('reports a TLS handshake that times out', async () => {
    const server = await listenPlain();
    const found = await issues(service([`https://127.0.0.1:${server.port}`]), '--connect-timeout', '2s');
    deepEqual(
      found.map(({ code, message }) => [code, message]),
      [
        [
          'CONNECT_TIMEOUT',
          `127.0.0.1:${server.port} accepts connections but does not complete the TLS handshake within 2000 ms`,
        ],
      ],
    );
  });

  it('reports a server that does not speak TLS', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const { port } = await listen(server);
    const [found] = await issues(service([`https://127.0.0.1:${port}`]));
    deepEqual([found!['code'], found!['hint']], ['CONNECT_TLS', 'the server does not use TLS']);
  });

  it('reports a server that closes the connection during the handshake', async () => {
    const { port } = await listen(createServer((socket) => socket.end()));
    const [found] = await issues(service([`https://127.0.0.1:${port}`]));
    equal(found!['code'], 'CONNECT_TLS');
  });

  it('accepts a certificate from a CA of client_tls, and rejects it otherwise', async () => {
    const server = await listenTls(certificates.issue('server', authority));
    const content = service([`https://localhost:${server.port}`]);
    const trusting = { ...content, client_tls: { ca_certs: [authority.certificate] } };
    equal((await check(trusting, '--connect')).code, 0);
    equal(server.bytes, 0);
    const [found] = await issues(content);
    deepEqual(
      [found!['code'], found!['hint']],
      ['CONNECT_CERTIFICATE', 'add the certificate authority to "ca_certs" of client_tls'],
    );
  });

  it('rejects a certificate for another name', async () => {
    const server = await listenTls(certificates.issue('other', authority, 'DNS:other.test'));
    const content = service([`https://localhost:${server.port}`]);
    const [found] = await issues({ ...content, client_tls: { ca_certs: [authority.certificate] } });
    deepEqual(
      [found!['code'], found!['hint']],
      ['CONNECT_CERTIFICATE', 'use a host name that the certificate contains'],
    );
  });

  it('connects to a configured proxy instead of the host behind it', async () => {
    const proxy = await closedPort();
    const content = service(['http://198.51.100.1:80']);
    const client = { 'backend/http/client': { proxy_address: `http://127.0.0.1:${proxy}` } };
    Object.assign(content.endpoints[0]!.backend[0]!, { extra_config: client });
    const found = await issues(content);
    deepEqual(
      found.map(({ message }) => message),
      [`the proxy 127.0.0.1:${proxy} refuses connections`],
    );
  });

  it('does not show the user and password of an address', async () => {
    const port = await closedPort();
    const amqp = { host: `amqp://ada:s3cret@127.0.0.1:${port}/`, name: 'q', exchange: 'e' };
    const backend = [{ url_pattern: '/', host: [`http://127.0.0.1:${port}`] }];
    const agent = { name: 'a', consumer: { topic: 'a' }, backend, extra_config: { 'async/amqp': amqp } };
    const { err, out } = await check({ ...service(), async_agent: [agent] }, '--connect');
    match(err, /error: 127\.0\.0\.1:\d+ refuses connections \(\/async_agent\/0\/backend/);
    equal(/s3cret/.test(err + out), false);
  });

  it('does not connect if the configuration has errors', async () => {
    const server = await listenPlain();
    const content = { ...service([`http://127.0.0.1:${server.port}`]), timeout: 'soon' };
    const { code, err } = await check(content, '--connect');
    equal(code, 1);
    match(err, /^ERROR parsing the configuration file:\t1 error$/m);
    equal(server.connections, 0);
  });

  it('skips hosts that depend on the request', async () => {
    const content = service(['http://{host}.test']);
    Object.assign(content.endpoints[0]!.backend[0]!, { disable_host_sanitize: true });
    content.endpoints[0]!.endpoint = '/{host}';
    const { code, out } = await check(content, '--connect');
    deepEqual([code, /Syntax OK! 0 addresses/.test(out)], [0, true]);
  });

  it('tries many addresses concurrently, each with its own time limit', async () => {
    const server = await listenPlain();
    // The server never responds, and is listed under many host names.
    const hosts = Array.from({ length: 40 }, (_, index) => `https://127.0.0.${index + 1}:${server.port}`);
    for (const socket of servers) socket.close();
    servers.clear();
    const silent = createServer((socket) => sockets.add(socket.on('error', () => {})));
    servers.add(silent.listen(server.port, '0.0.0.0'));
    await once(silent, 'listening');
    const began = performance.now();
    const found = await issues(service(hosts), '--connect-timeout', '300ms');
    deepEqual([...new Set(found.map(({ code }) => code))], ['CONNECT_TIMEOUT']);
    equal(found.length, 40);
    equal(performance.now() - began < 40 * 300, true);
  });

  it('includes unreachable addresses in SARIF', async () => {
    const port = await closedPort();
    const { out } = await check(service([`http://127.0.0.1:${port}`]), '--connect', '--format', 'sarif');
    match(out, /"ruleId":\s*"CONNECT_REFUSED"/);
  });

  describe('to servers that greet before TLS', () => {
    const agent = (host: string, more: object = {}) => ({
      ...service(),
      async_agent: [
        {
          name: 'a',
          consumer: { topic: 'a' },
          backend: [{ url_pattern: '/', host: ['_http._tcp.b.test'], sd: 'dns' }],
          extra_config: { 'async/nats': { host, ...more } },
        },
      ],
    });
    const greeting = (text: string) => listen(createServer((socket) => socket.on('error', () => {}).write(text)));
    const found = async (text: string, host = 'nats') => {
      const server = await greeting(text);
      const [issue] = await issues(agent(`${host}://127.0.0.1:${server.port}`), '--connect-timeout', '2s');
      equal(server.bytes, 0);
      return [issue!['code'], String(issue!['message']).replace(/^\S+ /, '')];
    };

    it('sends nothing if the server does not offer TLS', async () => {
      const server = await greeting('INFO {"tls_required":false}\r\n');
      equal((await check(agent(`nats://127.0.0.1:${server.port}`), '--connect')).code, 0);
      equal(server.bytes, 0);
    });

    it('reports a server without TLS if the address requires it', async () => {
      deepEqual(await found('INFO {}\r\n', 'tls'), [
        'CONNECT_GREETING',
        'sends an unexpected greeting: the server does not offer TLS, which is required',
      ]);
    });

    it('reports a server of another kind', async () => {
      const code = 'CONNECT_GREETING';
      deepEqual(await found('220 mail.test ESMTP\r\n'), [
        code,
        'sends an unexpected greeting: the server is not a NATS server',
      ]);
      deepEqual(await found('INFO {"a":}\r\n'), [
        code,
        'sends an unexpected greeting: the INFO message of the server is not valid JSON',
      ]);
      deepEqual(await found('x'.repeat(100_000)), [
        code,
        'sends an unexpected greeting: the server is not a NATS server',
      ]);
    });

    it('reports a greeting that does not arrive within the time limit', async () => {
      deepEqual(await found('INFO {"tls_'), [
        'CONNECT_TIMEOUT',
        'accepts connections but sends no greeting within 2000 ms',
      ]);
    });

    it('reports a server that closes the connection without a greeting', async () => {
      const { port } = await listen(createServer((socket) => socket.end('INFO')));
      const [issue] = await issues(agent(`nats://127.0.0.1:${port}`));
      deepEqual(issue!['code'], 'CONNECT_GREETING');
    });

    (withoutNats ? it.skip : it)(
      `completes a TLS handshake with a NATS server, or reports why it cannot${withoutNats ?? ''}`,
      async () => {
        const pair = certificates.issue('nats', authority);
        const config = join(certificates.directory, 'nats.conf');
        writeFileSync(config, `tls { cert_file: "${pair.certificate}", key_file: "${pair.privateKey}" }`);
        const nats = await startNats(['-c', config]);
        try {
          const trusting = { client_tls: { ca_certs: [authority.certificate] } };
          for (const host of ['localhost', '127.0.0.1']) {
            equal((await check(agent(`tls://${host}:${nats.port}`, trusting), '--connect')).code, 0);
          }
          for (const host of ['tls', 'nats']) {
            const [issue] = await issues(agent(`${host}://localhost:${nats.port}`));
            deepEqual(
              [issue!['code'], issue!['pointer']],
              ['CONNECT_CERTIFICATE', '/async_agent/0/extra_config/async~1nats/host'],
            );
          }
        } finally {
          await nats.close();
        }
      },
    );
  });

  it('completes a TLS handshake with Azure Service Bus, and none with an emulator', async () => {
    const publisher = { 'backend/pubsub/publisher': { topic_url: 'orders' } };
    const content = service(['azuresb://']);
    Object.assign(content.endpoints[0]!.backend[0]!, { extra_config: publisher, disable_host_sanitize: true });
    const [server, plain] = [await listenTls(certificates.issue('bus', authority)), await listenPlain()];
    const key = 'SharedAccessKeyName=n;SharedAccessKey=k';
    const restore = setEnvironment({ SERVICEBUS_CONNECTION_STRING: `Endpoint=sb://localhost:${server.port}/;${key}` });
    try {
      const [issue] = await issues(content);
      equal(issue!['code'], 'CONNECT_CERTIFICATE');
      const emulated = `Endpoint=sb://localhost:${plain.port}/;${key};UseDevelopmentEmulator=true`;
      process.env['SERVICEBUS_CONNECTION_STRING'] = emulated;
      equal((await check(content, '--connect')).code, 0);
      deepEqual([plain.connections, plain.bytes, server.bytes], [1, 0, 0]);
    } finally {
      restore();
    }
  });

  it('is not available in the admin API, where another user could make the gateway connect', async () => {
    const file = folder.write('g.json', service());
    const { code, err } = await sluiceIn({}, 'check', '--connect', '--admin', 'http://127.0.0.1:1', '-c', file);
    equal(code, 2);
    match(err, /--connect cannot be combined with --admin/);
  });

  it('accepts a time limit only with the flag, and only a valid one', async () => {
    match((await check(service(), '--connect-timeout', '1s')).err, /--connect-timeout requires --connect/);
    match((await check(service(), '--connect', '--connect-timeout', 'soon')).err, /not a duration such as 3s/);
  });
});
