import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';
import type { KeyPair } from '../../support/certificates.ts';
import type { Answering } from '../../support/gateway.ts';
import { ask, once, Secure } from './secure.ts';

const ASK = 'GET /__health HTTP/1.1\r\nHost: localhost\r\n\r\n';

describe('a reload of a gateway with TLS', () => {
  let secure: Secure;
  let renewed: KeyPair;
  let files: KeyPair;
  before(() => {
    secure = new Secure();
    renewed = secure.made.issue('renewed', secure.authority);
  });
  beforeEach(() => {
    files = { ...secure.server, certificate: at('live.pem'), privateKey: at('live.key') };
    place(secure.server);
  });
  afterEach(() => secure.close());
  after(() => secure.made.remove());

  const at = (name: string) => join(secure.made.directory, name);
  function place(pair: KeyPair): void {
    copyFileSync(pair.certificate, files.certificate);
    copyFileSync(pair.privateKey, files.privateKey);
  }

  it('applies a certificate replaced on disk, even with an unchanged configuration', async () => {
    const { gateway, port } = await secure.listen(secure.tls({}, files));
    equal(await secure.shown(port, 'localhost'), 'server');
    place(renewed);
    await gateway.reload();
    equal(await secure.shown(port, 'localhost'), 'renewed');
  });

  it('keeps existing connections', async () => {
    const { gateway, port } = await secure.listen(secure.tls({}, files));
    const socket = await secure.handshake(port);
    const session = secure.session(port);
    await ask(session, { ':path': '/a' });
    place(renewed);
    await gateway.reload();
    socket.write(ASK);
    match(String(await once(socket, 'data')), /^HTTP\/1\.1 200/);
    equal((await ask(session, { ':path': '/a' })).headers[':status'], 200);
  });

  it('rejects certificates that do not match and keeps the old ones', async () => {
    const { gateway, port } = await secure.listen(secure.tls({}, files));
    writeFileSync(files.certificate, 'half written');
    await rejects(gateway.reload(), ({ errors }: ConfigErrors) => {
      deepEqual(
        errors.map(({ code, pointer }) => [code, pointer]),
        [['TLS_INVALID', '/tls/keys/0/public_key']],
      );
      return true;
    });
    equal(await secure.shown(port, 'localhost'), 'server');
  });

  it('can require certificates of new clients', async () => {
    const { gateway, port } = await secure.listen(secure.tls());
    const socket = await secure.handshake(port);
    const mutual = secure.tls({ enable_mtls: true, ca_certs: [secure.authority.certificate] });
    await gateway.reload({ version: 3, ...mutual });
    equal(typeof (await secure.get(port, '/__health')), 'string');
    socket.write(ASK);
    match(String(await once(socket, 'data')), /^HTTP\/1\.1 200/);
  });

  it('can change the TLS versions', async () => {
    const { gateway, port } = await secure.listen(secure.tls());
    await gateway.reload({ version: 3, ...secure.tls({ min_version: 'TLS12' }) });
    equal((await secure.handshake(port, { maxVersion: 'TLSv1.2' })).getProtocol(), 'TLSv1.2');
  });

  it('can switch from plain to TLS and back on the same port', async () => {
    const { gateway, port } = await secure.listen();
    await gateway.reload({ version: 3, ...secure.tls() });
    equal(await secure.get(port, '/__health'), 200);
    await gateway.reload({ version: 3 });
    equal(typeof (await secure.get(port, '/__health')), 'string');
    const socket = secure.dial(port);
    socket.write(ASK);
    match(String(await once(socket, 'data')), /^HTTP\/1\.1 200/);
  });

  it('closes plain connections once TLS is enabled, after their pending responses', async () => {
    let finish = (): void => {};
    const held: Answering = (_seen, response) => {
      finish = () => response.end('{"held":true}');
    };
    const backend = await secure.backend(held);
    const endpoints = [{ endpoint: '/held', backend: [{ host: [backend.url], url_pattern: '/' }] }];
    const { gateway, port } = await secure.listen({ endpoints });
    const idle = secure.dial(port);
    idle.write(ASK);
    await once(idle, 'data');
    const busy = secure.dial(port);
    busy.write('GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n');
    while (backend.requests.length === 0) await new Promise(setImmediate);
    let received = '';
    busy.on('data', (chunk) => {
      received += chunk;
    });
    const ended = [once(idle, 'close'), once(busy, 'close')];
    await gateway.reload({ version: 3, endpoints, ...secure.tls() });
    await ended[0];
    finish();
    await ended[1];
    match(received, /Connection: close\r\n[\s\S]*\{"held":true\}/i);
  });

  it('can enable clear-text HTTP/2 on the same port', async () => {
    const { gateway, port } = await secure.listen({});
    await gateway.reload({ version: 3, use_h2c: true });
    const session = secure.session(port, 'http');
    equal((await ask(session, { ':path': '/__health' })).headers[':status'], 200);
  });

  it('closes clear-text HTTP/2 connections once that is disabled', async () => {
    const { gateway, port } = await secure.listen({ use_h2c: true });
    const session = secure.session(port, 'http');
    await ask(session, { ':path': '/__health' });
    const closed = once(session, 'close');
    await gateway.reload({ version: 3 });
    await closed;
  });

  it('opens another port with TLS before the old one is closed', async () => {
    const { gateway, port } = await secure.listen(secure.tls());
    const socket = await secure.handshake(port);
    await gateway.reload({ version: 3, ...secure.tls(), listen_ip: '127.0.0.1' });
    await once(socket, 'close');
    const { port: next } = await gateway.listen();
    equal(await secure.get(next, '/__health', { host: '127.0.0.1', servername: 'localhost' }), 200);
  });
});
