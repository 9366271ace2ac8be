import { deepEqual, equal, match } from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientRequest, Wrap } from '#contract';
import type { KeyPair } from '../../support/certificates.ts';
import { until } from '../../support/conditions.ts';
import { rememberingSinks, startGateway } from '../../support/gateway.ts';
import { startPlugged } from '../../support/plugged.ts';
import { ask, once, Secure } from './secure.ts';

describe('mutual TLS', () => {
  let secure: Secure;
  let visitor: KeyPair;
  let stranger: KeyPair;
  let other: KeyPair;
  before(() => {
    secure = new Secure();
    visitor = secure.made.issue('visitor', secure.authority);
    other = secure.made.authority('other');
    stranger = secure.made.issue('stranger', other);
  });
  afterEach(() => secure.close());
  after(() => secure.made.remove());

  const shows = ({ certificatePem: cert, privateKeyPem: key }: KeyPair) => ({ cert, key });

  function listen(fields: object = {}, ...pairs: KeyPair[]) {
    const ca_certs = [secure.authority.certificate];
    const trust = { enable_mtls: true, disable_system_ca_pool: true, ca_certs, ...fields };
    return secure.listen({ ...secure.tls(trust, ...pairs), debug_endpoint: true });
  }

  for (const path of ['/a', '/__health', '/__debug/x', '/nowhere']) {
    it(`rejects clients without a trusted certificate on ${path}`, async () => {
      const { port } = await listen();
      equal(typeof (await secure.get(port, path)), 'string');
      equal(typeof (await secure.get(port, path, shows(stranger))), 'string');
      equal(await secure.get(port, path, shows(visitor)), path === '/nowhere' ? 404 : 200);
    });
  }

  it('passes the certificate of a client to components, over HTTP/1.1 and HTTP/2, also on a resumed session', async () => {
    const seen: (string | undefined)[] = [];
    const ca_certs = [secure.authority.certificate];
    const trust = secure.tls({ enable_mtls: true, disable_system_ca_pool: true, ca_certs });
    const note: Wrap<ClientRequest> = (next) => (request, call) => {
      seen.push(request.certificate?.subject);
      return next(request, call);
    };
    const gateway = await startPlugged({ ...trust, extra_config: { test: {} } }, { service: { request: note } });
    const { port } = await gateway.listen();
    const first = await secure.handshake(port, shows(visitor));
    const kept = once(first, 'session') as Promise<Buffer>;
    first.write('GET /__health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(first, 'data');
    const again = await secure.handshake(port, { session: await kept });
    again.write('GET /__health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(again, 'data');
    const { connect } = await import('node:http2');
    const socket = await secure.handshake(port, { ...shows(visitor), ALPNProtocols: ['h2'] });
    const session = connect('https://localhost', { createConnection: () => socket });
    await ask(session, { ':path': '/__health' });
    session.destroy();
    deepEqual(seen, Array(3).fill('CN=visitor'));
    await gateway.close();
  });

  it('logs the certificate of a client in the access log, over HTTP/1.1 and HTTP/2, also after a disconnect', async () => {
    const sinks = rememberingSinks();
    const format =
      '%{statusCode} %{clientCert.subject} %{clientCert.issuer} %{clientCert.serial} %{clientCert.fingerprint}\n';
    const logging = { level: 'ERROR', stdout: true, access_log_format: 'custom', access_log_custom_format: format };
    const ca_certs = [secure.authority.certificate];
    const trust = { enable_mtls: true, disable_system_ca_pool: true, ca_certs };
    const hangs = await secure.backend(() => {});
    const { port } = await secure.listen(
      {
        ...secure.tls(trust),
        extra_config: { 'telemetry/logging': logging },
        endpoints: [{ endpoint: '/hangs', backend: [{ host: [hangs.url], url_pattern: '/' }] }],
      },
      { sinks },
    );
    const { serialNumber, fingerprint256 } = new X509Certificate(visitor.certificatePem);
    const known = `CN=visitor CN=authority ${serialNumber} ${fingerprint256.replaceAll(':', '').toLowerCase()}\n`;
    const lines = () => sinks.lines.filter((line) => /^\d{3} /.test(line));

    equal(await secure.get(port, '/__health', shows(visitor)), 200);
    const { connect } = await import('node:http2');
    const socket = await secure.handshake(port, { ...shows(visitor), ALPNProtocols: ['h2'] });
    const session = connect('https://localhost', { createConnection: () => socket });
    await ask(session, { ':path': '/__health' });
    await until(() => lines().length === 2);

    const leaving = session.request({ ':path': '/hangs' });
    leaving.on('error', () => {});
    await until(() => hangs.requests.length === 1);
    leaving.close();
    await until(() => lines().length === 3);
    session.destroy();
    const first = await secure.handshake(port, shows(visitor));
    first.write('GET /hangs HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until(() => hangs.requests.length === 2);
    first.destroy();
    await until(() => lines().length === 4);
    deepEqual(
      lines(),
      ['200', '200', '499', '499'].map((status) => `${status} ${known}`),
    );
  });

  it('rejects untrusted clients over HTTP/2', async () => {
    const { port } = await listen();
    const socket = await secure.handshake(port, { ALPNProtocols: ['h2'] });
    match(String(await once(socket, 'error')), /certificate required/);
  });

  it('serves a trusted client over HTTP/2', async () => {
    const { port } = await listen();
    const socket = await secure.handshake(port, { ...shows(visitor), ALPNProtocols: ['h2'] });
    const { connect } = await import('node:http2');
    const session = connect('https://localhost', { createConnection: () => socket });
    equal((await ask(session, { ':path': '/a' })).body, '{"a":1}');
    session.destroy();
  });

  it('accepts a resumed session with its original certificate', async () => {
    const { port } = await listen();
    const first = await secure.handshake(port, shows(visitor));
    const session = (await once(first, 'session')) as Buffer;
    const again = await secure.handshake(port, { session });
    equal(again.isSessionReused(), true);
    again.write('GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n');
    match(String(await once(again, 'data')), /^HTTP\/1\.1 200/);
  });

  it('applies to every certificate of the server', async () => {
    const second = secure.made.issue('second', secure.authority, 'DNS:b.x.io');
    const { port } = await listen({}, secure.server, second);
    const options = { servername: 'b.x.io', checkServerIdentity: () => undefined };
    equal(typeof (await secure.get(port, '/a', { ...options, ...shows(stranger) })), 'string');
    equal(await secure.get(port, '/a', { ...options, ...shows(visitor) }), 200);
  });

  it('accepts a certificate from an intermediate CA', async () => {
    const between = secure.made.issue('between', secure.authority, 'DNS:between\nbasicConstraints=critical,CA:TRUE');
    const { port } = await listen({ ca_certs: [between.certificate] });
    equal(await secure.get(port, '/a', shows(secure.made.issue('guest', between))), 200);
    equal(typeof (await secure.get(port, '/a', shows(visitor))), 'string');
  });

  it("trusts the CAs in the chain of the server's certificate", async () => {
    const chain = join(secure.made.directory, 'chain.pem');
    writeFileSync(chain, secure.server.certificatePem + secure.authority.certificatePem);
    const { port } = await listen({ ca_certs: [] }, { ...secure.server, certificate: chain });
    equal(await secure.get(port, '/a', shows(visitor)), 200);
  });

  it("does not trust the server's certificate as a CA", async () => {
    const { port } = await listen({ ca_certs: [] });
    equal(typeof (await secure.get(port, '/a', shows(visitor))), 'string');
    equal(typeof (await secure.get(port, '/a', shows(secure.server))), 'string');
  });

  it('rejects a certificate that is not for client authentication', async () => {
    const purpose = 'DNS:localhost\nextendedKeyUsage=serverAuth';
    const { port } = await listen();
    equal(
      typeof (await secure.get(port, '/a', shows(secure.made.issue('purpose', secure.authority, purpose)))),
      'string',
    );
  });

  it('requests no certificate by default', async () => {
    const { port } = await listen({ enable_mtls: false });
    equal(await secure.get(port), 200);
  });

  it('warns if all public CAs are trusted, and if no CA is', async () => {
    const warned = async (fields: object) => {
      const gateway = await startGateway(secure.tls({ enable_mtls: true, ...fields }));
      await gateway.close();
      return gateway.status.warnings
        .map(({ code, pointer }) => [code, pointer])
        .filter(([code]) => code !== 'TLS_EXPIRY');
    };
    deepEqual(await warned({}), [['TLS_CLIENTS_PUBLIC', '/tls/enable_mtls']]);
    deepEqual(await warned({ disable_system_ca_pool: true }), [['TLS_CLIENTS_NOBODY', '/tls/ca_certs']]);
  });
});
