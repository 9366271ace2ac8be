import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { demandUsable } from '../../../kernel/sources/revision-limits.ts';
import { plugin } from '../../../plugins/source/consul.ts';
import { type Certificates, type KeyPair, makeCertificates } from '../../support/certificates.ts';
import { until } from '../../support/conditions.ts';
import { startConsul, type TestConsul } from '../../support/consul.ts';
import { itKeepsTheContract } from '../../support/source-contract.ts';
import { filesOf, soon, testSources, textsIn } from '../../support/source-suite.ts';

describe('a configuration in Consul', () => {
  let consul: TestConsul;
  const sources = testSources(plugin);
  const open = (key: string) => sources.open(`consul://${consul.host}/${key}`);

  before(async () => {
    consul = await startConsul();
  });
  after(() => consul.stop());
  afterEach(async () => {
    await sources.close();
    consul.token = null;
  });

  itKeepsTheContract(() => ({
    sources,
    address: (key) => `consul://${consul.host}/${key}`,
    put: consul.put,
    putFile: (key, name, text) => consul.put(`${key}/${name}`, text),
    removeFile: (key, name) => consul.remove(`${key}/${name}`),
    stop: consul.stop,
    start: consul.start,
  }));

  it('has versions in the order of the writes, also after a file was removed', async () => {
    consul.put('order/gateway.json', '1');
    consul.put('order/part.json', '1');
    const first = (await open('order').read(soon()))!;
    consul.remove('order/part.json');
    const second = (await open('order').read(soon()))!;
    ok(second.order! > first.order!);
  });

  it('does not include keys that the user interface creates as folders', async () => {
    consul.put('folders/', '');
    consul.put('folders/templates/', '');
    consul.put('folders/gateway.json', '1');
    deepEqual(await textsIn(open('folders')), { 'gateway.json': '1' });
  });

  it('is not usable if names leave the directory', async () => {
    consul.put('hostile/gateway.json', '1');
    consul.put('hostile/__proto__', '2');
    const revision = (await open('hostile').read(soon()))!;
    deepEqual([...revision.files.keys()], ['gateway.json', '__proto__']);
    consul.put('hostile/../x', '3');
    const outside = (await open('hostile').read(soon()))!;
    throws(() => demandUsable(outside, 1000), /"\.\.\/x" is not a valid path/);
  });

  it('is watched with queries that wait for a later index', async () => {
    consul.put('blocking/gateway.json', '1');
    const source = open('blocking');
    const { version } = (await source.read(soon()))!;
    const changed = source.awaitChange!(version, soon());
    await until(() => consul.waiting === 1);
    match(consul.requests.at(-1)!, new RegExp(`recurse=true&index=${version}&wait=300s`));
    consul.put('blocking/gateway.json', '2');
    await changed;
  });

  it('is read again if the index is smaller than before', async () => {
    const restored = await startConsul();
    try {
      restored.put('snapshot/gateway.json', '1');
      const source = sources.open(`consul://${restored.host}/snapshot`);
      const { version } = (await source.read(soon()))!;
      const changed = source.awaitChange!(version, soon());
      await until(() => restored.waiting === 1);
      restored.restore({ 'snapshot/gateway.json': '0' }, 3);
      await changed;
      equal((await source.read(soon()))!.order, 3);
    } finally {
      await restored.stop();
    }
  });

  it('stops a query that waits when it is canceled', async () => {
    consul.put('abandoned/gateway.json', '1');
    const source = open('abandoned');
    const { version } = (await source.read(soon()))!;
    const canceling = new AbortController();
    const changed = rejects(source.awaitChange!(version, canceling.signal));
    await until(() => consul.waiting === 1);
    canceling.abort();
    await changed;
    await until(() => consul.waiting === 0);
  });

  it('cannot be written as several files to a key of one file', async () => {
    const files = filesOf({ 'gateway.json': '1', 'part.json': '2' });
    await rejects(open('one.json').write!({ files, expected: null }, soon()), /single file/);
  });

  it('requires a key and known parameters in the address', () => {
    throws(() => open(''), /needs a key/);
    throws(() => open('key?datacenter=eu'), /unknown parameter "datacenter" .*dc, ns, partition/);
    throws(() => open('key%'), /write it as %25/);
  });

  it('passes the datacenter of the address to the server', async () => {
    await open('dc?dc=eu').read(soon());
    match(consul.requests.at(-1)!, /\/v1\/kv\/dc\/\?dc=eu&recurse=true/);
  });

  it('is read with a token, and not with a wrong one, which no message contains', async () => {
    consul.put('token/gateway.json', '1');
    consul.token = 'right-one';
    const address = `consul://${consul.host}/token`;
    deepEqual(await textsIn(sources.open(address, { token: 'right-one' })), { 'gateway.json': '1' });
    await rejects(sources.open(address, { token: 'wrong-one' }).read(soon()), (error: Error) => {
      match(error.message, /status 403: Permission denied/);
      ok(!error.message.includes('wrong-one'));
      return true;
    });
  });

  describe('of a server with TLS', () => {
    let certificates: Certificates;
    let authority: KeyPair;
    let secure: TestConsul;

    before(async () => {
      certificates = makeCertificates();
      authority = certificates.authority('authority');
      const { certificatePem: cert, privateKeyPem: key } = certificates.issue('server', authority);
      secure = await startConsul({
        cert,
        key,
        ca: authority.certificatePem,
        requestCert: true,
        rejectUnauthorized: true,
      });
      secure.put('tls/gateway.json', '1');
    });
    after(async () => {
      await secure.stop();
      certificates.remove();
    });

    it('is read with a client certificate only', async () => {
      const { certificatePem: cert, privateKeyPem: key } = certificates.issue('client', authority);
      const address = `consul+https://${secure.host}/tls`;
      const ca = authority.certificatePem;
      deepEqual(await textsIn(sources.open(address, { tls: { ca, cert, key } })), { 'gateway.json': '1' });
      await rejects(sources.open(address, { tls: { ca } }).read(soon()), /did not respond/);
      await rejects(sources.open(address, { tls: { cert, key } }).read(soon()), /did not respond/);
    });
  });

  describe('of a server that fails', () => {
    const failing: Readonly<Record<string, readonly [RequestListener, RegExp]>> = {
      'without an index': [(_request, response) => response.end('[]'), /no valid X-Consul-Index/],
      'with a negative index': [
        (_request, response) => response.setHeader('X-Consul-Index', '-1').end('[]'),
        /no valid X-Consul-Index/,
      ],
      'with text that is not JSON': [
        (_request, response) => response.setHeader('X-Consul-Index', '1').end('<html>'),
        /not a JSON object|not a list/,
      ],
      'with keys of another form': [
        (_request, response) => response.setHeader('X-Consul-Index', '1').end('[null]'),
        /not a list of keys/,
      ],
      'with a redirect': [
        (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
        /status 302/,
      ],
      'by closing the connection': [(request) => request.socket.destroy(), /did not respond/],
    };
    for (const [how, [respond, reason]] of Object.entries(failing)) {
      it(`${how}, is an error`, async () => {
        const server = createServer(respond).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const source = sources.open(`consul://127.0.0.1:${(server.address() as AddressInfo).port}/key`);
        await rejects(source.read(soon()), reason);
        await rejects(source.awaitChange!('1', soon()), reason);
        server.closeAllConnections();
        server.close();
      });
    }
  });
});
