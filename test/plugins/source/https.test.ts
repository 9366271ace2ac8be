import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConfigSource, type SourceAccess, SourceBusy } from '#contract';
import { plugin } from '../../../plugins/source/https.ts';
import { type Certificates, type KeyPair, makeCertificates } from '../../support/certificates.ts';
import { soon, testSources } from '../../support/source-suite.ts';

describe('a configuration on an HTTP server', () => {
  const sources = testSources(plugin);
  let server: Server;
  let requests: IncomingMessage[];
  let respond: RequestListener;
  let folder: string;

  before(async () => {
    server = createServer((request, response) => {
      requests.push(request);
      respond(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    folder = mkdtempSync(join(tmpdir(), 'sluice-'));
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    requests = [];
    respond = (_request, response) => response.setHeader('ETag', '"1"').end('{"version":3}');
  });

  afterEach(() => sources.close());

  interface OpenOptions {
    readonly access?: Partial<SourceAccess>;
    readonly env?: NodeJS.ProcessEnv;
    readonly origin?: string;
  }

  function open(path = '/gateway.json', { access = {}, env = {}, origin }: OpenOptions = {}): ConfigSource {
    const address = new URL(path, origin ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return sources.open(address.href, access, env);
  }

  it('is one file, named as in its address', async () => {
    const revision = await open('/configs/eu.yaml').read(soon());
    deepEqual([...revision!.files], [['eu.yaml', Buffer.from('{"version":3}')]]);
    equal(revision!.version, '"1"');
  });

  it('is named gateway.json if the address does not end like a configuration file', async () => {
    deepEqual([...(await open('/config/7')!.read(soon()))!.files.keys()], ['gateway.json']);
  });

  it('is sent again only if it has changed', async () => {
    const source = open();
    const first = await source.read(soon());
    respond = (request, response) => response.writeHead(request.headers['if-none-match'] === '"1"' ? 304 : 500).end();
    equal(await source.read(soon()), first);
    respond = (_request, response) => response.setHeader('ETag', '"2"').end('{"version":4}');
    equal((await source.read(soon()))!.version, '"2"');
    equal(requests[2]!.headers['if-none-match'], '"1"');
  });

  for (const status of [404, 410]) {
    it(`is absent after status ${status}`, async () => {
      respond = (_request, response) => response.writeHead(status).end();
      equal(await open().read(soon()), null);
    });
  }

  it('cannot be read after another status, which is reported with the beginning of the response', async () => {
    respond = (_request, response) => response.writeHead(500).end(`broken\n${'x'.repeat(10_000)}`);
    await rejects(open().read(soon()), (error: Error) => {
      match(error.message, /^status 500: broken x+$/);
      ok(error.message.length < 300);
      return true;
    });
  });

  it('is not read from the target of a redirect', async () => {
    respond = (_request, response) => response.writeHead(302, { Location: '/other.json' }).end();
    await rejects(open().read(soon()), /^Error: status 302$/);
    equal(requests.length, 1);
  });

  for (const [value, pauseMs] of [
    ['120', 120_000],
    ['999999', 3_600_000],
  ] as const) {
    it(`has a pause of ${pauseMs / 1000} s after Retry-After: ${value}`, async () => {
      respond = (_request, response) => response.writeHead(503, { 'Retry-After': value }).end();
      await rejects(open().read(soon()), (error) => error instanceof SourceBusy && error.pauseMs === pauseMs);
    });
  }

  it('is rejected if it is larger than the maximum, also when it is compressed', async () => {
    respond = (_request, response) => response.end('x'.repeat(100_001));
    await rejects(open().read(soon()), /larger than 100000 bytes/);
    const { gzipSync } = await import('node:zlib');
    respond = (_request, response) =>
      response.setHeader('Content-Encoding', 'gzip').end(gzipSync('x'.repeat(1_000_000)));
    await rejects(open().read(soon()), /larger than 100000 bytes/);
  });

  it('is requested with the credentials of the address, or with a token', async () => {
    await open('/gateway.json', { access: { username: 'ada', password: 'secret' } }).read(soon());
    await open('/gateway.json', { access: { token: 'abc' } }).read(soon());
    deepEqual(
      requests.map(({ headers }) => headers.authorization),
      [`Basic ${Buffer.from('ada:secret').toString('base64')}`, 'Bearer abc'],
    );
  });

  it('reports a server that does not respond without the query of the address', async () => {
    await rejects(open('/gateway.json?token=secret', { origin: 'http://127.0.0.1:1' }).read(soon()), {
      message: '127.0.0.1:1 did not respond: ECONNREFUSED',
    });
  });

  it('reports a connection that ends within the response', async () => {
    respond = (_request, response) => {
      response.writeHead(200, { 'Content-Length': 100 });
      response.write('{', () => response.destroy());
    };
    await rejects(open().read(soon()), /did not respond/);
  });

  it('stops waiting for a response when the signal aborts', async () => {
    const ended = new AbortController();
    respond = () => ended.abort();
    await rejects(open().read(ended.signal));
  });

  describe('with a public key', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    let keyFile: string;
    let signature: string | Buffer;

    before(() => {
      keyFile = join(folder, 'key.pem');
      writeFileSync(keyFile, publicKey.export({ type: 'spki', format: 'pem' }));
    });
    beforeEach(() => {
      signature = sign(null, Buffer.from('{"version":3}'), privateKey).toString('base64');
      respond = ({ url }, response) => {
        if (url === '/gateway.json') response.end('{"version":3}');
        else if (url === '/gateway.json.sig') response.end(signature);
        else response.writeHead(404).end();
      };
    });
    const read = (path?: string) => open(path, { env: { GATEWAY_SOURCE_PUBLIC_KEY: keyFile } }).read(soon());

    it('is accepted with its signature in Base64', async () => {
      equal((await read())!.files.size, 1);
    });

    it('is accepted with its signature as bytes', async () => {
      signature = sign(null, Buffer.from('{"version":3}'), privateKey);
      equal((await read())!.files.size, 1);
    });

    for (const [what, make] of [
      ['a signature of another text', () => sign(null, Buffer.from('{"version":4}'), privateKey).toString('base64')],
      [
        'a signature by another key',
        () => sign(null, Buffer.from('{"version":3}'), generateKeyPairSync('ed25519').privateKey).toString('base64'),
      ],
      ['an empty signature', () => ''],
    ] as const) {
      it(`is rejected if it has ${what}`, async () => {
        signature = make();
        await rejects(read(), /the signature does not match the configuration/);
      });
    }

    it('is rejected if it has no signature', async () => {
      respond = ({ url }, response) =>
        url === '/gateway.json' ? response.end('{"version":3}') : response.writeHead(404).end();
      await rejects(read(), /the signature cannot be read: status 404/);
    });

    it('requires an Ed25519 key in a PEM file', () => {
      const other = join(folder, 'ec.pem');
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      writeFileSync(other, pair.publicKey.export({ type: 'spki', format: 'pem' }));
      throws(() => open('/', { env: { GATEWAY_SOURCE_PUBLIC_KEY: other } }), /has a key of type ec, not Ed25519/);
      throws(() => open('/', { env: { GATEWAY_SOURCE_PUBLIC_KEY: `${other}.none` } }), /ENOENT/);
    });
  });

  describe('over TLS', () => {
    let certificates: Certificates;
    let authority: KeyPair;
    let secure: Server;

    before(async () => {
      certificates = makeCertificates();
      authority = certificates.authority('authority');
      const own = certificates.issue('server', authority);
      secure = createSecureServer(
        { key: own.privateKeyPem, cert: own.certificatePem, ca: authority.certificatePem, requestCert: true },
        (_request, response) => response.end('{}'),
      );
      secure.listen(0, '127.0.0.1');
      await once(secure, 'listening');
    });
    after(async () => {
      secure.closeAllConnections();
      secure.close();
      await once(secure, 'close');
      certificates.remove();
    });
    const at = () => `https://localhost:${(secure.address() as AddressInfo).port}`;

    it('is read with a client certificate', async () => {
      const client = certificates.issue('client', authority);
      const tls = { ca: authority.certificatePem, cert: client.certificatePem, key: client.privateKeyPem };
      equal((await open('/', { origin: at(), access: { tls } }).read(soon()))!.files.size, 1);
    });

    it('is not read without one', async () => {
      await rejects(open('/', { origin: at(), access: { tls: { ca: authority.certificatePem } } }).read(soon()));
    });

    it('is not read from a server with an unknown certificate', async () => {
      await rejects(open('/', { origin: at() }).read(soon()), /did not respond: .*CERT/);
    });
  });
});
