import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import Provider from 'oidc-provider';
import type { Operations } from '#kernel';
import { json, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

const audience = 'https://api.example.com';

/** A private signing key in the form that the provider accepts. */
async function signingKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' };
}

/** Storage of the provider; self-contained tokens are not stored. */
class Forgetful {
  async upsert(): Promise<undefined> {}
  async find(): Promise<undefined> {}
  async findByUserCode(): Promise<undefined> {}
  async findByUid(): Promise<undefined> {}
  async consume(): Promise<undefined> {}
  async destroy(): Promise<undefined> {}
  async revokeByGrantId(): Promise<undefined> {}
}

describe('a gateway with a certified OpenID Connect provider', () => {
  let server: Server;
  let provider: RequestListener;
  let issuer: string;
  let backend: TestBackend;
  let gateway: Operations;
  let downloads = 0;

  /** Rotated keys: the first one signs. */
  const rotate = (...keys: JWK[]) => {
    const opened = new Provider(issuer, {
      jwks: { keys } as never,
      clients: [
        {
          client_id: 'shop',
          client_secret: 'of-the-shop',
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
        },
      ],
      scopes: ['orders'],
      ttl: { ClientCredentials: 600 },
      adapter: Forgetful,
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({
            scope: 'orders',
            audience,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
    });
    provider = opened.callback();
  };

  before(async () => {
    server = createServer((message, response) => {
      if (message.url === '/jwks') downloads++;
      provider(message, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    backend = await startBackend(json({ ok: true }));
  });
  after(async () => {
    await gateway.close();
    await backend.close();
    server.closeAllConnections();
    server.close();
  });

  const login = async (): Promise<string> => {
    const answer = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from('shop:of-the-shop').toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'orders', resource: audience }),
    });
    equal(answer.status, 200);
    return ((await answer.json()) as { access_token: string }).access_token;
  };
  const kidOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid;
  const statusOf = async (url: string, token: string) =>
    (await gateway.inject({ url, headers: { authorization: `Bearer ${token}` } })).statusCode;

  it("accepts the provider's tokens and downloads its keys once after a rotation", async () => {
    const [first, second] = [await signingKey('first'), await signingKey('second')];
    rotate(first);
    const discovery = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
    const { jwks_uri: jwkUrl } = discovery as { jwks_uri: string };
    const validator = {
      alg: 'RS256',
      jwk_url: jwkUrl,
      disable_jwk_security: true,
      cache: true,
      issuer,
      audience: [audience],
      scopes: ['orders'],
      scopes_key: 'scope',
    };
    const endpoint = (path: string, more: object = {}) => ({
      endpoint: path,
      extra_config: { 'auth/validator': { ...validator, ...more } },
      backend: [{ host: [backend.url], url_pattern: '/' }],
    });
    gateway = await startGateway({
      endpoints: [
        endpoint('/orders'),
        endpoint('/other', { audience: ['https://other.example.com'] }),
        endpoint('/admin', { scopes: ['admin'] }),
      ],
    });
    const old = await login();
    deepEqual(
      [kidOf(old), await statusOf('/orders', old), await statusOf('/other', old), await statusOf('/admin', old)],
      ['first', 200, 401, 403],
    );
    const before = downloads;
    rotate(second, first);
    const fresh = await login();
    deepEqual(
      [kidOf(fresh), await statusOf('/orders', fresh), await statusOf('/orders', old), downloads - before],
      ['second', 200, 200, 1],
    );
    const [header, payload, signature] = fresh.split('.');
    equal(await statusOf('/orders', `${header}.${payload}.${signature!.slice(0, -4)}AAAA`), 401);
    equal(await statusOf('/orders', `${header}.${payload}.${old.split('.')[2]}`), 401);
  });
});
