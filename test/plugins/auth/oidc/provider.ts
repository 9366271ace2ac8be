import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';

/** Answers a request in place of the provider. @returns whether the request was answered. */
type Intercept = (message: IncomingMessage, response: ServerResponse) => boolean;

/** A certified OpenID Connect provider, at which user `ada` logs in without a page. */
export interface TestProvider {
  readonly issuer: string;
  readonly key: JWK;
  /** Methods and paths of all requests. */
  readonly requests: string[];
  /** Lifetime of access tokens in seconds. */
  accessSeconds: number;
  /** User who logs in next. */
  user: string;
  /** Outcome of the next logins: an error of OAuth, or empty. */
  denial: string;
  intercept: Intercept;
  /** Answers a request as the provider does. */
  handle(message: IncomingMessage, response: ServerResponse): void;
  /** A token with the key of the provider; its times are now and in one minute unless the claims say otherwise. */
  sign(claims: object, header?: object): Promise<string>;
  close(): Promise<void>;
}

export const CLIENT = { client_id: 'gateway', client_secret: 'secret-of-the-gateway' } as const;

/** In-memory storage of the library. The library warns unless it is configured explicitly. */
const STORAGE = 'oidc-provider/lib/adapters/memory_adapter.js';

/** @param base URL of the gateway. @param more settings of the provider, for example for pages. @param client of the gateway's registration. */
export async function startProvider(
  base: string,
  more: Configuration = {},
  client: object = {},
): Promise<TestProvider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const server = createServer((message, response) => {
    self.requests.push(`${message.method} ${message.url!.split('?')[0]}`);
    if (self.intercept(message, response)) return;
    const [, uid] = /^\/interaction\/([\w-]+)$/.exec(message.url!) ?? [];
    if (uid === undefined || more.features?.devInteractions?.enabled) callback(message, response);
    else void interact(message, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const self: TestProvider = {
    issuer: `http://localhost:${(server.address() as AddressInfo).port}`,
    key,
    requests: [],
    accessSeconds: 3600,
    user: 'ada',
    denial: '',
    intercept: () => false,
    handle: (message, response) => void callback(message, response),
    sign(claims, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const all = { iat: now, exp: now + 60, ...claims };
      return new SignJWT(all).setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header }).sign(privateKey);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const { default: Memory } = await import(STORAGE);
  const provider = new Provider(self.issuer, {
    jwks: { keys: [key] } as never,
    clients: [
      {
        ...CLIENT,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [`${base}/oidc/main/callback`, `${base}/oidc/other/callback`],
        post_logout_redirect_uris: [`${base}/`, `${base}/bye`],
        ...client,
      },
    ],
    adapter: class Storage extends Memory {},
    cookies: { keys: ['of the test'] },
    claims: { openid: ['sub'], profile: ['name', 'roles'] },
    findAccount: (_ctx, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, name: accountId.toUpperCase(), roles: [`role-of-${accountId}`] }),
    }),
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    ttl: {
      AccessToken: () => self.accessSeconds,
      Grant: 3600,
      IdToken: 3600,
      Interaction: 600,
      RefreshToken: 3600,
      Session: 3600,
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    ...more,
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      revocation: { enabled: true, allowedPolicy: () => true },
      ...more.features,
    },
  });
  const callback = provider.callback();

  async function interact(message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (self.denial !== '') {
      await provider.interactionFinished(message, response, { error: self.denial, error_description: '<b>no</b>' });
      return;
    }
    const { params } = await provider.interactionDetails(message, response);
    const grant = new provider.Grant({ accountId: self.user, clientId: params['client_id'] as string });
    grant.addOIDCScope(params['scope'] as string);
    const result = { login: { accountId: self.user }, consent: { grantId: await grant.save() } };
    await provider.interactionFinished(message, response, result);
  }
  return self;
}
