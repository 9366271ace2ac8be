import { createSign, generateKeyPairSync } from 'node:crypto';
import { type HttpMessage, httpDialect } from '../dialects.ts';
import { type Driver, hostileTarget } from '../hostile-target.ts';
import { openStage } from '../stage.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] };

/** A misbehaving OpenID Connect provider, at which a browser logs in. */
export const oidc = hostileTarget({
  name: 'oidc',
  dialect: httpDialect(respond),
  rooms: ['plugins/auth/oidc/'],
  deadlineMs: 2_000,
  // Metadata that could not be refreshed are used for 30 s.
  recoveryMs: 35_000,
  drive,
});

function respond({ head, body }: HttpMessage): string {
  const issuer = `http://${/\r\nhost: *(\S+)/i.exec(head)?.[1]}`;
  const [, path = ''] = /^\S+ (\S+)/.exec(head) ?? [];
  if (path.includes('/.well-known/')) return JSON.stringify(metadataOf(issuer));
  if (path.includes('/jwks')) return JSON.stringify(keys);
  // The code of a login is its nonce.
  if (path.includes('/token')) return JSON.stringify(tokensOf(issuer, new URLSearchParams(body).get('code') ?? ''));
  return '{}';
}

function metadataOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}

function tokensOf(issuer: string, nonce: string): object {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, sub: 'a', aud: 'gateway', iat: now, exp: now + 3600, nonce };
  const [head, payload] = [{ alg: 'RS256', kid: 'k' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const signature = createSign('sha256').update(`${head}.${payload}`).sign(privateKey, 'base64url');
  const idToken = `${head}.${payload}.${signature}`;
  return { access_token: 't', token_type: 'Bearer', expires_in: 3600, refresh_token: 'r', id_token: idToken };
}

/** Logs in at each request, and requests the page with the session. */
async function drive(port: number): Promise<Driver> {
  const server = `http://127.0.0.1:${port}`;
  const stage = await openStage({
    extra_config: {
      'auth/oidc': {
        public_url: 'https://app.test',
        providers: [
          {
            ...{ name: 'main', issuer: server, client_id: 'gateway', client_secret: 's' },
            ...{ timeout: '300ms', discovery_ttl: '1s' },
          },
        ],
        session: { secrets: ['s'.repeat(32)] },
      },
    },
    endpoints: [
      {
        endpoint: '/a',
        timeout: '500ms',
        extra_config: { 'auth/oidc': {} },
        backend: [{ host: [server], url_pattern: '/b' }],
      },
    ],
  });
  const get = async (url: string, cookie: string) => {
    const { statusCode, headers } = await stage.gateway.inject({ url, headers: { accept: 'text/html', cookie } });
    const cookies = [headers['set-cookie'] ?? []].flat().map((line) => line.split(';')[0]!);
    return { status: statusCode, location: String(headers['location'] ?? ''), cookie: cookies.join('; ') };
  };
  return {
    async ask() {
      const login = await get('/a', '');
      const sent = URL.parse(login.location)?.searchParams;
      if (!sent) return false;
      const answer = new URLSearchParams({
        state: sent.get('state') ?? '',
        code: sent.get('nonce') ?? '',
        iss: server,
      });
      const done = await get(`/oidc/main/callback?${answer}`, login.cookie);
      return done.status === 303 && (await get('/a', done.cookie)).status === 200;
    },
    async close() {
      await stage.settled();
      await stage.gateway.close();
    },
  };
}
