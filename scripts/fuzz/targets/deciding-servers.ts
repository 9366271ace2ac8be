import { httpDialect } from '../dialects.ts';
import { driveGateway } from '../drive-gateway.ts';
import { hostileTarget } from '../hostile-target.ts';

const backendAt = (port: number) => [{ host: [`http://127.0.0.1:${port}`], url_pattern: '/b' }];

/** A misbehaving token introspection endpoint, which is also the backend. */
export const introspection = hostileTarget({
  name: 'introspection',
  dialect: httpDialect('{"active":true,"sub":"a","scope":"read","exp":4000000000,"nbf":1}'),
  rooms: ['plugins/auth/introspection/', 'plugins/auth/lib/'],
  deadlineMs: 300,
  // Responses about inactive tokens are cached for 5 s.
  recoveryMs: 8_000,
  drive: (port) =>
    driveGateway(
      { extra_config: { 'auth/introspection': { scopes: ['read'] } }, backend: backendAt(port) },
      { headers: { authorization: 'Bearer abc' } },
      {
        extra_config: {
          'auth/introspection': {
            introspection_url: `http://127.0.0.1:${port}/introspect`,
            client_id: 'a',
            client_secret: 'b',
            // A response that names another scope is cached, too.
            cache_ttl: '5s',
          },
        },
      },
    ),
});

/** A misbehaving external authorization server over HTTP, which is also the backend. */
export const external = hostileTarget({
  name: 'external',
  dialect: httpDialect(
    '{}',
    'Content-Type: application/json\r\nX-User: a\r\nSet-Cookie: b=c; Path=/\r\nConnection: x-d',
  ),
  rooms: ['plugins/auth/external/'],
  deadlineMs: 300,
  recoveryMs: 8_000,
  drive: (port) =>
    driveGateway({
      extra_config: {
        'auth/external': {
          url: `http://127.0.0.1:${port}/verify`,
          response_headers: ['X-User'],
          client_headers: ['Set-Cookie'],
        },
      },
      backend: backendAt(port),
    }),
});
