import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { freeListenAddress } from '../../../kernel/runtime/kept/unix-socket.ts';
import type { Gateway, GatewayOptions } from '../../../kernel/sluice.ts';
import { freePort } from '../../support/conditions.ts';
import { json, rememberingSinks, startGateway, type TestBackend } from '../../support/gateway.ts';
import { startNginx, withoutNginx } from '../../support/nginx.ts';
import { bundledProgram } from '../../support/programs.ts';
import { ask, Secure } from './secure.ts';

const program = bundledProgram();

describe('a gateway that listens on a Unix socket', () => {
  let secure: Secure;
  let folder: string;
  let path: string;
  let backend: TestBackend;
  let gateway: Gateway;
  before(() => {
    secure = new Secure();
  });
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-socket-'));
    path = join(folder, 'gateway.sock');
    backend = await secure.backend(json({ a: 1 }));
  });
  afterEach(async () => {
    await secure.close();
    rmSync(folder, { recursive: true });
  });
  after(() => secure.made.remove());

  const config = (more: object = {}) => ({
    version: 3,
    listen_ip: `unix:${path}`,
    endpoints: [{ endpoint: '/a', backend: [{ host: [backend.url], url_pattern: '/' }] }],
    ...more,
  });
  const listen = async (more: object = {}, options?: GatewayOptions) => {
    const opened = await secure.listen(config(more), options);
    gateway = opened.gateway;
    return opened.port;
  };
  const get = async (socketPath = path, headers: object = {}): Promise<number | undefined> => {
    const [response] = await once(request({ socketPath, path: '/a', headers: { ...headers } }).end(), 'response');
    return response.resume().statusCode;
  };
  const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

  it('serves its clients there, and removes the file when it stops', async () => {
    const sinks = rememberingSinks();
    equal(await listen({}, { sinks }), 0);
    equal(await get(), 200);
    equal(
      sinks.lines.some((line) => line.includes(`Listening on unix:${path}`)),
      true,
    );
    await gateway.close();
    equal(existsSync(path), false);
  });

  it('gives the file the permissions of socket_mode, 0660 by default, also after a reload', async () => {
    await listen();
    equal(modeOf(path), '660');
    await gateway.reload(config({ socket_mode: '0600' }));
    equal(modeOf(path), '600');
    equal(await get(), 200);
  });

  it('replaces the file of a socket that no process listens on', async () => {
    const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', script]);
    equal(existsSync(path), true);
    await listen();
    equal(await get(), 200);
  });

  it('is refused for workers if the path of the socket cannot be read', async () => {
    const loop = join(folder, 'loop');
    symlinkSync(loop, loop);
    await rejects(freeListenAddress(`unix:${loop}/a.sock`), { code: 'LISTEN_FAILED' });
  });

  it('does not replace a socket in use, nor another file', async () => {
    await listen();
    await rejects(listen(), {
      code: 'LISTEN_FAILED',
      message: /cannot listen on unix:.*gateway.sock: /,
    });
    equal(await get(), 200);
    const other = join(folder, 'file');
    writeFileSync(other, 'kept');
    await rejects(listen({ listen_ip: `unix:${other}` }), { code: 'LISTEN_FAILED' });
    equal(existsSync(other), true);
  });

  it('moves to another socket, to a port and back by reloads', async () => {
    await listen();
    const next = join(folder, 'next.sock');
    deepEqual((await gateway.reload(config({ listen_ip: `unix:${next}` }))).rebound, [`unix:${next}`]);
    deepEqual([await get(next), existsSync(path)], [200, false]);
    const [address] = (await gateway.reload(config({ listen_ip: '127.0.0.1' }))).rebound;
    deepEqual([(await fetch(`http://${address}/a`)).status, existsSync(next)], [200, false]);
    await gateway.reload(config());
    equal(await get(), 200);
  });

  it('keeps its socket if the next one cannot be opened', async () => {
    await listen();
    await rejects(gateway.reload(config({ listen_ip: `unix:${folder}/none/a.sock` })), /LISTENER_BIND/);
    equal(await get(), 200);
  });

  it('completes requests in progress after a reload that moves it', async () => {
    const held = Promise.withResolvers<() => void>();
    backend = await secure.backend((_seen, response) => held.resolve(() => response.end('{}')));
    await listen();
    const pending = get();
    const respond = await held.promise;
    await gateway.reload(config({ listen_ip: `unix:${folder}/next.sock` }));
    respond();
    equal(await pending, 200);
  });

  it('shares the socket between workers', async function () {
    this.timeout(60_000);
    const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', script]);
    await listen({ socket_mode: '0666' }, { workers: { count: 2, program, args: [] } });
    deepEqual([await get(), await get(), await get(), modeOf(path)], [200, 200, 200, '666']);
    const next = join(folder, 'next.sock');
    await gateway.reload(config({ listen_ip: `unix:${next}` }));
    deepEqual([await get(next), await get(next), existsSync(path)], [200, 200, false]);
    await gateway.close();
    equal(existsSync(next), false);
  });

  it('serves TLS and HTTP/2', async () => {
    await listen(secure.tls());
    const carrier = connectSocket(path);
    const ca = secure.authority.certificatePem;
    const socket = connectTls({ socket: carrier, ca, servername: 'localhost', ALPNProtocols: ['h2'] });
    await once(socket, 'secureConnect');
    const session = connectHttp2('https://localhost', { createConnection: () => socket });
    equal((await ask(session, { ':path': '/a' })).body, '{"a":1}');
    session.destroy();
  });

  it('closes all connections in a handshake when it stops', async () => {
    await listen(secure.tls());
    const pending = [1, 2, 3].map(() => connectSocket(path).on('error', () => {}));
    await Promise.all(pending.map((socket) => once(socket, 'connect')));
    for (const socket of pending) socket.write('\x16');
    const closed = pending.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    await gateway.close();
    await Promise.all(closed);
  });

  it('sends no X-Forwarded-For for clients without an address, unless a trusted proxy names one', async () => {
    await listen();
    await get(path, { 'X-Forwarded-For': '203.0.113.7' });
    const router = { forwarded_by_client_ip: true, trusted_proxies: ['unix:'] };
    await gateway.reload(config({ extra_config: { router } }));
    await get(path, { 'X-Forwarded-For': '203.0.113.7' });
    deepEqual(
      backend.requests.map(({ headers }) => headers['x-forwarded-for']),
      [undefined, '203.0.113.7'],
    );
  });

  it('takes the client from a PROXY protocol header if unix: is trusted', async () => {
    await listen({ proxy_protocol: { trusted: ['unix:'] } });
    const socket = connectSocket(path);
    socket.write('PROXY TCP4 203.0.113.7 10.0.0.1 1 2\r\nGET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200 OK/);
    socket.destroy();
    equal(backend.requests[0]!.headers['x-forwarded-for'], '203.0.113.7');
  });

  it('listens on a port that listen() names', async () => {
    const opened = await startGateway(config());
    try {
      const { port } = await opened.listen({ port: 0 });
      equal((await fetch(`http://127.0.0.1:${port}/a`)).status, 200);
    } finally {
      await opened.close();
    }
  });

  for (const [title, fields, code] of [
    ['a relative path', { listen_ip: 'unix:a.sock' }, 'LISTEN_ADDRESS'],
    ['a path of more than 107 bytes', { listen_ip: `unix:/${'é'.repeat(54)}` }, 'LISTEN_ADDRESS'],
    ['a mode that is not octal', { socket_mode: '0888' }, 'LISTEN_SOCKET_MODE'],
  ] as const) {
    it(`is refused with ${title}`, async () => {
      deepEqual(
        (await secure.refused(config(fields))).map(([first]) => first),
        [code],
      );
    });
  }

  (withoutNginx ? it.skip : it)(`is a backend of nginx${withoutNginx ? ` (${withoutNginx})` : ''}`, async () => {
    const router = { forwarded_by_client_ip: true, trusted_proxies: ['unix:'] };
    await listen({ socket_mode: '0666', extra_config: { router } });
    const port = await freePort();
    const stop = await startNginx(
      port,
      `http { access_log off; server { listen 127.0.0.1:${port}; location / {
         proxy_pass http://unix:${path}:; proxy_set_header X-Forwarded-For 203.0.113.9; } } }`,
    );
    try {
      equal((await fetch(`http://127.0.0.1:${port}/a`)).status, 200);
      equal(backend.requests[0]!.headers['x-forwarded-for'], '203.0.113.9');
    } finally {
      await stop();
    }
  });
});
