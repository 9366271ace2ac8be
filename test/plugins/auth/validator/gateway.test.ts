import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { OAuth2Server } from 'oauth2-mock-server';
import type { Operations } from '#kernel';
import { type Certificates, type KeyPair, makeCertificates } from '../../../support/certificates.ts';
import { until } from '../../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';
import { forge, issue, type KeyServer, makeSigner, type Signer, startKeyServer } from '../fixture.ts';

describe('a gateway with auth/validator', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let ada: Signer;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
    ada = await makeSigner('RS256', 'ada');
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const endpoint = (path: string, validator: object, more: object = {}) => ({
    endpoint: path,
    extra_config: { 'auth/validator': { alg: 'RS256', ...validator } },
    backend: [{ host: [backend.url], url_pattern: path }],
    ...more,
  });
  const statusOf = async (url: string, token: string, headers: object = {}) =>
    (await gateway!.inject({ url, headers: { authorization: `Bearer ${token}`, ...headers } })).statusCode;

  describe('and keys of a key server', () => {
    let keys: KeyServer;

    beforeEach(async () => {
      keys = await startKeyServer(ada.jwk);
    });
    afterEach(async () => {
      keys.answer = null;
      await keys.close();
    });

    const fetched = () => ({ jwk_url: `${keys.url}/keys`, disable_jwk_security: true, cache: true });

    it('downloads the keys once for all endpoints before the first request, and not again after a reload', async () => {
      const config = {
        version: 3,
        extra_config: { 'auth/validator': { shared_cache_duration: 3 } },
        endpoints: [
          endpoint('/a', { ...fetched(), cache_duration: 1 }),
          endpoint('/b', { ...fetched(), cache_duration: 1 }),
        ],
      };
      gateway = await startGateway(config);
      await until(() => keys.downloads === 1);
      const token = await issue(ada);
      deepEqual([await statusOf('/a', token), await statusOf('/b', token)], [200, 200]);
      await gateway.reload({ ...config, name: 'another' });
      deepEqual([await statusOf('/a', token), await statusOf('/b', token)], [200, 200]);
      equal(keys.downloads, 1);
    });

    it('does not use the key of one identity provider for another one with the same key ID', async () => {
      const other = await makeSigner('RS256', 'ada');
      const others = await startKeyServer(other.jwk);
      gateway = await startGateway({
        extra_config: { 'auth/validator': {} },
        endpoints: [endpoint('/a', fetched()), endpoint('/b', { ...fetched(), jwk_url: `${others.url}/keys` })],
      });
      const token = await issue(ada);
      deepEqual([await statusOf('/a', token), await statusOf('/b', token)], [200, 401]);
      await gateway.close();
      await others.close();
    });

    it('rejects a key set larger than 1 MiB', async () => {
      let sent = 0;
      let closed = false;
      keys.answer = (response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.write('{"keys":[');
        const chunk = Buffer.alloc(64 * 1024, ' ');
        const more = () => {
          while (!closed && sent < 500 * 1024 * 1024) {
            sent += chunk.length;
            if (!response.write(chunk)) return;
          }
        };
        response.on('drain', more);
        response.on('close', () => {
          closed = true;
        });
        more();
      };
      gateway = await startGateway({ endpoints: [endpoint('/a', fetched())] });
      equal(await statusOf('/a', await issue(ada)), 401);
      await until(() => closed);
      ok(sent < 32 * 1024 * 1024, `${sent} bytes`);
    });

    it("starts without a key server that hangs, and waits for it no longer than the endpoint's timeout", async () => {
      keys.answer = () => {};
      gateway = await startGateway({ endpoints: [endpoint('/a', fetched(), { timeout: '200ms' })] });
      const token = await issue(ada);
      const statuses = await Promise.all(Array.from({ length: 50 }, () => statusOf('/a', token)));
      deepEqual(new Set(statuses), new Set([401]));
      equal(keys.downloads, 1);
    });

    it('never logs a token', async () => {
      const sinks = rememberingSinks();
      gateway = await startGateway(
        { endpoints: [endpoint('/a', { ...fetched(), operation_debug: true, issuer: 'me' })] },
        { sinks },
      );
      const { port } = await gateway.listen();
      const token = await issue(ada, { iss: 'secret-issuer' });
      for (const value of [token, `${token}x`, 'a.b.c']) {
        const response = await fetch(`http://127.0.0.1:${port}/a`, { headers: { authorization: `Bearer ${value}` } });
        equal(response.status, 401);
        equal(await response.text(), '');
        equal(response.headers.get('cache-control'), null);
        equal(response.headers.get('content-type'), null);
        equal(response.headers.get('x-gateway-completed'), null);
      }
      await until(() => sinks.lines.filter((line) => line.includes('401')).length >= 3);
      const text = sinks.lines.join('\n');
      ok(text.includes('token refused: the issuer does not match'));
      for (const segment of [...token.split('.'), 'secret-issuer']) equal(text.includes(segment), false, segment);
    });
  });

  describe('and a key server over TLS', () => {
    let certificates: Certificates;
    let authority: KeyPair;
    let server: Server;
    let url: string;

    before(async () => {
      certificates = makeCertificates();
      authority = certificates.authority('authority');
      const pair = certificates.issue('server', authority);
      const chain = pair.certificatePem + authority.certificatePem;
      server = createTlsServer({ cert: chain, key: pair.privateKeyPem }, (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ keys: [ada.jwk] }));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      url = `https://localhost:${(server.address() as AddressInfo).port}/keys`;
    });
    after(() => {
      server.closeAllConnections();
      server.close();
      certificates.remove();
    });

    const pinOf = (pem: string) => {
      const key = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
      return createHash('sha256').update(key).digest('base64').replaceAll('+', '-').replaceAll('/', '_');
    };
    const statusWith = async (validator: object) => {
      gateway = await startGateway({ endpoints: [endpoint('/a', { jwk_url: url, ...validator })] });
      return statusOf('/a', await issue(ada));
    };

    it('requires a certificate of a trusted authority', async () => equal(await statusWith({}), 401));

    it('trusts the configured certificate authority', async () =>
      equal(await statusWith({ jwk_local_ca: authority.certificate }), 200));

    it('accepts any certificate if verification is disabled', async () =>
      equal(await statusWith({ disable_jwk_security: true }), 200));

    it('uses the configured cipher suites', async () =>
      equal(await statusWith({ jwk_local_ca: authority.certificate, cipher_suites: [49195] }), 200));

    it("accepts a chain with a pinned key, either the server's or the authority's", async () => {
      const ca = { jwk_local_ca: authority.certificate };
      const other = `${'A'.repeat(43)}=`;
      equal(await statusWith({ ...ca, jwk_fingerprints: [other, pinOf(authority.certificatePem)] }), 200);
      await gateway!.close();
      equal(await statusWith({ ...ca, jwk_fingerprints: [other] }), 401);
    });
  });

  describe('and claims', () => {
    it('inserts claims into backend paths and headers, escaped so that they cannot add segments or headers', async () => {
      const sample = JSON.parse(readFileSync('samples/tokens/keys.json', 'utf8')).keys[0];
      const secret = Buffer.from(sample.k, 'base64url');
      const validator = {
        alg: 'HS256',
        jwk_local_path: 'samples/tokens/keys.json',
        propagate_claims: [['sub', 'X-User']],
      };
      gateway = await startGateway({
        endpoints: [
          endpoint('/u', validator, {
            input_headers: ['X-User'],
            backend: [{ host: [backend.url], url_pattern: '/of/{JWT.sub}/x?q={JWT.sub}' }],
          }),
        ],
      });
      const ask = async (claims: object) => {
        const seen = backend.requests.length;
        const status = await statusOf('/u', forge({ alg: 'HS256', kid: 'sample' }, claims, secret), {
          'x-user': 'root',
          X_User: 'root',
        });
        const request = backend.requests[seen];
        return [status, request?.target, request?.headers['x-user'], request?.headers['x_user']];
      };
      deepEqual(await ask({ sub: 'ada' }), [200, '/of/ada/x?q=ada', 'ada', undefined]);
      deepEqual(await ask({ sub: 'a/b?c#d%\r\nE: f' }), [
        200,
        '/of/a%2Fb%3Fc%23d%25%0D%0AE:%20f/x?q=a%2Fb%3Fc%23d%25%0D%0AE%3A+f',
        'a/b?c#d%  E: f',
        undefined,
      ]);
      deepEqual(await ask({ sub: 'a&q=b' }), [200, '/of/a&q=b/x?q=a%26q%3Db', 'a&q=b', undefined]);
      deepEqual(await ask({}), [200, '/of/%7BJWT.sub%7D/x?q=%7BJWT.sub%7D', '', undefined]);
      equal((await ask({ sub: '..' }))[1], undefined);
    });
  });

  describe('and an OpenID Connect provider', () => {
    let provider: OAuth2Server;

    before(async () => {
      provider = new OAuth2Server();
      await provider.issuer.keys.generate('RS256');
      await provider.start(0, '127.0.0.1');
    });
    after(() => provider.stop());

    it('uses the new keys after the provider rotates them', async () => {
      const discovery = await (await fetch(`${provider.issuer.url}/.well-known/openid-configuration`)).json();
      const { jwks_uri: jwkUrl, token_endpoint: tokenUrl, issuer } = discovery as Record<string, string>;
      const login = async (): Promise<string> => {
        const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'orders' });
        const response = await fetch(tokenUrl!, { method: 'POST', body });
        return ((await response.json()) as { access_token: string }).access_token;
      };
      gateway = await startGateway({
        endpoints: [
          endpoint('/a', {
            jwk_url: jwkUrl,
            disable_jwk_security: true,
            cache: true,
            issuer,
            scopes: ['orders'],
            scopes_key: 'scope',
          }),
        ],
      });
      equal(await statusOf('/a', await login()), 200);
      const old = await login();
      await provider.issuer.keys.generate('RS256');
      const kids = new Set<string>();
      for (let count = 0; count < 4; count++) {
        const token = await login();
        kids.add(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid);
        equal(await statusOf('/a', token), 200);
      }
      equal(kids.size, 2);
      equal(await statusOf('/a', old), 200);
    });
  });
});
