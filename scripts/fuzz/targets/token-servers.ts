import { createHmac } from 'node:crypto';
import { httpDialect } from '../dialects.ts';
import { driveGateway } from '../drive-gateway.ts';
import { hostileTarget } from '../hostile-target.ts';

const SECRET = Buffer.alloc(32, 'a').toString('base64url');

/** A misbehaving access token server, which is also the backend. */
export const tokenServer = hostileTarget({
  name: 'token-server',
  dialect: httpDialect('{"access_token":"abc","token_type":"Bearer","expires_in":3600}'),
  rooms: ['plugins/clients/tokens/', 'plugins/auth/client-credentials/'],
  deadlineMs: 300,
  recoveryMs: 8_000,
  drive: (port) =>
    driveGateway({
      backend: [
        {
          host: [`http://127.0.0.1:${port}`],
          url_pattern: '/a',
          extra_config: {
            'auth/client-credentials': {
              client_id: 'a',
              client_secret: 'b',
              token_url: `http://127.0.0.1:${port}/token`,
            },
          },
        },
      ],
    }),
});

/** A misbehaving key server. */
export const keyServer = hostileTarget({
  name: 'key-server',
  dialect: httpDialect(JSON.stringify({ keys: [{ kty: 'oct', kid: 'k', alg: 'HS256', k: SECRET }] })),
  rooms: ['plugins/clients/keys/'],
  deadlineMs: 300,
  recoveryMs: 12_000,
  drive: (port) =>
    driveGateway(
      {
        extra_config: {
          'auth/validator': { alg: 'HS256', jwk_url: `http://127.0.0.1:${port}/keys`, disable_jwk_security: true },
        },
        backend: [{ host: [`http://127.0.0.1:${port}`], url_pattern: '/a' }],
      },
      { headers: { authorization: `Bearer ${token()}` } },
    ),
});

function token(): string {
  const [head, claims] = [
    { alg: 'HS256', kid: 'k' },
    { sub: 'a', exp: 4e9 },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const signature = createHmac('sha256', Buffer.from(SECRET, 'base64url')).update(`${head}.${claims}`);
  return `${head}.${claims}.${signature.digest('base64url')}`;
}
