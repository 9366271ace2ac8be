import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { AdminPort } from '../../admin/port.ts';
import { type Certificates, type KeyPair, makeCertificates } from '../support/certificates.ts';
import { freePort } from '../support/conditions.ts';
import { partsOf, startGateway } from '../support/gateway.ts';
import { askAt, config, openAdmin, type TestAdmin } from './support.ts';

const withAdmin = (settings: object) => ({ ...config(), extra_config: { 'admin/api': settings } });

/** Occupies a port or a socket file. */
async function occupy(where: { port: number; host: string } | { path: string }): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(where, resolve);
  });
  return server;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

const free = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
  });

describe('the admin port', () => {
  let one: TestAdmin | null = null;
  afterEach(async () => {
    await one?.close();
    one = null;
  });

  describe('at startup', () => {
    it('opens at the configured address', async () => {
      const port = await freePort();
      one = await openAdmin(withAdmin({ listen: `localhost:${port}` }), { listen: undefined });
      equal(one.admin.address, `localhost:${port}`);
      equal((await one.ask('/live')).status, 200);
    });

    it('opens at the address of the command line, which takes precedence', async () => {
      one = await openAdmin(withAdmin({ listen: '127.0.0.1:1' }));
      match(one.admin.address!, /^127\.0\.0\.1:\d+$/);
      equal((await one.ask('/live')).status, 200);
    });

    it('can be disabled', async () => {
      one = await openAdmin(config(), { listen: 'off' });
      equal(one.admin.address, null);
    });

    it('can be opened at an IPv6 address', async function () {
      const server = createServer();
      const hasIpv6 = await new Promise((resolve) => {
        server.once('error', () => resolve(false));
        server.listen(0, '::1', () => server.close(() => resolve(true)));
      });
      if (!hasIpv6) this.skip();
      one = await openAdmin(config(), { listen: '[::1]:0' });
      match(one.admin.address!, /^\[::1\]:\d+$/);
      equal((await one.ask('/live')).status, 200);
    });

    it('stops the startup if its requested address is in use', async () => {
      const server = await occupy({ port: 0, host: '127.0.0.1' });
      const listen = `127.0.0.1:${portOf(server)}`;
      const taken = {
        code: 'ADMIN_LISTEN',
        message: `the admin API cannot listen on ${listen}: address already in use`,
      };
      await rejects(openAdmin(config(), { listen }), taken);
      await rejects(openAdmin(withAdmin({ listen }), { listen: undefined }), taken);
      await free(server);
    });

    it('rejects an invalid address', async () => {
      for (const listen of ['nowhere', '127.0.0.1', '127.0.0.1:70000', 'unix:socket', '[127.0.0.1]:1']) {
        await rejects(openAdmin(config(), { listen }), { code: 'ADMIN_LISTEN' }, listen);
      }
    });

    it('stops the startup if it would be reachable from other machines without TLS', async () => {
      for (const listen of ['0.0.0.0:0', '[::]:0', ':0', 'admin.test:0']) {
        await rejects(openAdmin(config(), { listen }), { code: 'ADMIN_LISTEN', message: /without TLS/ }, listen);
      }
    });

    it('stays closed if the default address is in use', async () => {
      const server = createServer();
      // Waits until the port is in use.
      await new Promise<void>((resolve) => {
        server.once('error', () => resolve());
        server.listen(9180, '127.0.0.1', resolve);
      });
      one = await openAdmin(config(), { listen: undefined });
      equal(one.admin.address, null);
      match(
        one.lines.join('\n'),
        /WARNING: \[ADMIN\] .*cannot listen on 127\.0\.0\.1:9180: address already in use; continuing without the admin API/,
      );
      equal((await one.gateway.inject('/__health')).statusCode, 200);
      if (server.listening) await free(server);
    });

    it('releases its address on close', async () => {
      one = await openAdmin();
      const { address } = one.admin;
      await one.admin.close();
      await rejects(askAt(address!, '/live'), { code: 'ECONNREFUSED' });
      equal(partsOf(one.gateway).control.participants.length, 0);
    });
  });

  describe('on a reload', () => {
    it('opens at the new address before the response on the old one is sent', async () => {
      const [from, to] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
      one = await openAdmin(withAdmin({ listen: from }), { listen: undefined });
      const body = withAdmin({ listen: to });
      const { status } = await one.ask('/v1/config', { method: 'PUT', body, address: from });
      equal(status, 200);
      equal(one.admin.address, to);
      equal((await askAt(to, '/live')).status, 200);
      equal((await askAt(from, '/live')).status, 200);
    });

    it('rejects an address that is in use, at its pointer, and stays open', async () => {
      const server = await occupy({ port: 0, host: '127.0.0.1' });
      const from = `127.0.0.1:${await freePort()}`;
      one = await openAdmin(withAdmin({ listen: from }), { listen: undefined });
      const text = JSON.stringify(withAdmin({ listen: `127.0.0.1:${portOf(server)}` }), null, 1);
      const { status, body } = await one.ask('/v1/config', { method: 'PUT', body: text });
      equal(status, 424);
      const [{ code, pointer, line }] = body.errors;
      deepEqual([code, pointer], ['LISTENER_BIND', '/extra_config/admin~1api/listen']);
      equal(line, text.split('\n').findIndex((one) => one.includes('"listen"')) + 1);
      equal(one.gateway.status.revision, 1);
      equal((await askAt(from, '/live')).status, 200);
      await free(server);
    });

    it('keeps its free port if it is configured as 0 or by its number', async () => {
      one = await openAdmin(withAdmin({ listen: '127.0.0.1:0' }), { listen: undefined });
      const { address } = one.admin;
      const bodies = [{ listen: '127.0.0.1:0', revisions: 7 }, { listen: address }, { listen: '127.0.0.1:0' }];
      for (const settings of bodies) {
        equal((await one.ask('/v1/config', { method: 'PUT', body: withAdmin(settings) })).body.result, 'applied');
        equal(one.admin.address, address);
      }
      equal((await one.ask('/live')).status, 200);
    });

    it('leaves nothing open after a dry run', async () => {
      const [from, to] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
      one = await openAdmin(withAdmin({ listen: from }), { listen: undefined });
      const body = withAdmin({ listen: to });
      equal((await one.ask('/v1/config?dry_run=true', { method: 'PUT', body })).body.result, 'dry_run');
      await rejects(askAt(to, '/live'), { code: 'ECONNREFUSED' });
      equal((await one.ask('/live')).status, 200);
    });

    it('rejects an address that is invalid, or reachable without TLS', async () => {
      one = await openAdmin();
      for (const listen of ['nowhere', '0.0.0.0:9180']) {
        const { status, body } = await one.ask('/v1/config', { method: 'PUT', body: withAdmin({ listen }) });
        deepEqual([status, body.errors[0].code], [422, 'ADMIN_LISTEN'], listen);
      }
    });

    it('can return to its previous address while that is still being closed', async () => {
      const [from, to] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
      one = await openAdmin(withAdmin({ listen: from }), { listen: undefined });
      await one.gateway.reload(withAdmin({ listen: to }));
      await one.gateway.apply({ trigger: 'api', source: withAdmin({ listen: from }), dryRun: true });
      await one.gateway.reload(withAdmin({ listen: from }));
      equal(one.admin.address, from);
      equal((await one.ask('/live')).status, 200);
    });

    it('can be disabled and enabled again', async () => {
      const listen = `127.0.0.1:${await freePort()}`;
      one = await openAdmin(withAdmin({ listen }), { listen: undefined });
      await one.gateway.reload(withAdmin({ listen: 'off' }));
      equal(one.admin.address, null);
      await one.gateway.reload(withAdmin({ listen }));
      equal(one.admin.address, listen);
      equal((await one.ask('/live')).status, 200);
    });
  });

  it('closes the old address only some time after a change', async () => {
    const gateway = await startGateway(withAdmin({ listen: '127.0.0.1:0' }));
    const opened: string[] = [];
    const port = new AdminPort({
      gateway,
      listen: undefined,
      respond: (_request, response) => response.end(),
      log: gateway.log,
      onServing: async (address) => void opened.push(address),
      handoverMs: 1,
    });
    await port.open();
    gateway.join(port);
    await gateway.reload(withAdmin({ listen: 'localhost:0' }));
    const [old, present] = opened as [string, string];
    while (await isOpen(old)) await new Promise(setImmediate);
    ok(await isOpen(present));
    await port.close();
    await gateway.close();
  });

  const isOpen = (address: string) =>
    askAt(address, '/').then(
      () => true,
      () => false,
    );
});

describe('the admin port as a socket file', () => {
  let directory: string;
  let path: string;
  let one: TestAdmin | null = null;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-socket-'));
    path = join(directory, 'admin.sock');
  });
  afterEach(async () => {
    await one?.close();
    one = null;
    rmSync(directory, { recursive: true });
  });

  const open = async () => {
    one = await openAdmin(config(), { listen: `unix:${path}` });
    return one;
  };

  it('is accessible only to the user of the gateway', async () => {
    const { admin } = await open();
    equal(admin.address, `unix:${path}`);
    equal(statSync(path).mode & 0o777, 0o600);
  });

  it('requires a token but no Host or Origin', async () => {
    const { ask } = await open();
    const headers = { host: 'evil.test', origin: 'http://evil.test' };
    equal((await ask('/v1/status', { headers })).status, 200);
    equal((await ask('/v1/status', { headers, token: null })).status, 401);
  });

  it('replaces a stale socket file without a listener', async () => {
    const { spawnSync } = await import('node:child_process');
    const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', script]);
    ok(existsSync(path));
    equal((await (await open()).ask('/live')).status, 200);
  });

  it('is rejected if the socket file has a listener', async () => {
    const server = await occupy({ path });
    await rejects(open(), { code: 'ADMIN_LISTEN', message: /address already in use/ });
    ok(existsSync(path));
    await free(server);
  });

  it('is rejected if the path is any other file', async () => {
    writeFileSync(path, 'mine');
    await rejects(open(), { code: 'ADMIN_LISTEN' });
    equal(statSync(path).size, 4);
  });

  it('removes its file on close', async () => {
    const { admin } = await open();
    await admin.close();
    ok(!existsSync(path));
  });
});

describe('the admin port with TLS', () => {
  let certificates: Certificates;
  let authority: KeyPair;
  let server: KeyPair;
  let client: KeyPair;
  let one: TestAdmin | null = null;
  before(() => {
    certificates = makeCertificates();
    authority = certificates.authority('authority');
    server = certificates.issue('server', authority);
    client = certificates.issue('client', authority);
  });
  after(() => certificates.remove());
  afterEach(async () => {
    await one?.close();
    one = null;
  });

  const tls = (pair: KeyPair, more = {}) =>
    withAdmin({ tls: { certificate: pair.certificate, private_key: pair.privateKey, ...more } });

  /** Returns the subject of the certificate that the port presents, and the first line of its response. */
  function speak(address: string, options: object = {}): Promise<{ subject: string; answer: string }> {
    const [, port] = address.split(':');
    return new Promise((resolve, reject) => {
      const socket = connectTls({ port: Number(port), host: '127.0.0.1', ca: authority.certificatePem, ...options });
      socket.once('error', reject);
      socket.once('secureConnect', () => {
        const subject = String(socket.getPeerCertificate().subject.CN);
        socket.write(`GET /live HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`);
        socket.once('data', (data) => {
          socket.destroy();
          resolve({ subject, answer: String(data).split('\r\n')[0]! });
        });
      });
    });
  }

  it('serves HTTPS, and may then be reachable from other machines', async () => {
    one = await openAdmin(tls(server), { listen: '0.0.0.0:0' });
    deepEqual(await speak(one.admin.address!), { subject: 'server', answer: 'HTTP/1.1 200 OK' });
  });

  it('presents a renewed certificate after a reload', async () => {
    one = await openAdmin(tls(server));
    await one.gateway.reload(tls(certificates.issue('renewed', authority)));
    equal((await speak(one.admin.address!)).subject, 'renewed');
  });

  it('can be switched to TLS without another port', async () => {
    one = await openAdmin(config());
    equal((await one.ask('/live')).status, 200);
    await one.gateway.reload(tls(server));
    equal((await speak(one.admin.address!)).answer, 'HTTP/1.1 200 OK');
  });

  it('requests a client certificate if CAs are configured', async () => {
    one = await openAdmin(tls(server, { client_ca: authority.certificate }));
    await rejects(speak(one.admin.address!));
    const own = { cert: client.certificatePem, key: client.privateKeyPem };
    equal((await speak(one.admin.address!, own)).answer, 'HTTP/1.1 200 OK');
  });

  it('rejects certificate files that cannot be read or used, at their pointers', async () => {
    one = await openAdmin(tls(server));
    const { admin, gateway } = one;
    const missing = await gateway.reload(tls({ ...server, certificate: '/none.pem' })).catch((error) => error);
    deepEqual(
      [missing.errors[0].code, missing.errors[0].pointer],
      ['ADMIN_TLS_FILE', '/extra_config/admin~1api/tls/certificate'],
    );
    const misfit = await gateway.reload(tls({ ...server, privateKey: client.privateKey })).catch((error) => error);
    equal(misfit.errors[0].code, 'ADMIN_TLS_INVALID');
    equal((await speak(admin.address!)).answer, 'HTTP/1.1 200 OK');
  });
});
