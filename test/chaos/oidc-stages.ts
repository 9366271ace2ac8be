import { createHash, hash, randomBytes } from 'node:crypto';
import { CookieJar } from '../../plugins/auth/oidc/cookies.ts';
import { openSeal } from '../../plugins/auth/oidc/sealing.ts';
import { sessionText } from '../../plugins/auth/oidc/session.ts';
import { type Ports, plain, redisRoot, type Stage, url } from './stage.ts';

const SECRET = 'secret-of-the-chaos-stages'.padEnd(32, '.');
const CLIENT = { client_id: 'gate', client_secret: 'secret' };

interface LoggedIn {
  readonly issuer: string;
  /** Remaining time of the access token, in seconds. */
  readonly left: number;
}

/** An encrypted session of a user, as the component stores it. */
function sealedSession({ issuer, left }: LoggedIn): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, aud: CLIENT.client_id, sub: 'ada', iat: now, exp: now + 3600 };
  const idToken = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`;
  const session = { idToken, accessToken: 'a', refreshToken: 'r', expires: now + left, startedAt: now };
  const purpose = `session ${JSON.stringify(['main', issuer, CLIENT.client_id])}`;
  return openSeal([SECRET]).close(purpose, sessionText(session, ''));
}

function cookieOf(handle: string): string {
  const lines = new CookieJar('oidc', 'main', 'Lax').store(handle, 3600, new Map());
  return lines.map((line) => line.slice(0, line.indexOf(';'))).join('; ');
}

const component = (issuer: string, session: object) => ({
  'auth/oidc': {
    public_url: 'https://app.test',
    providers: [{ name: 'main', issuer, ...CLIENT, timeout: '300ms' }],
    session: { secrets: [SECRET], ...session },
  },
});

/** A session in cookies whose access token has expired, so that the provider must refresh it. */
export function expiredLogin(ports: Ports): Stage {
  const issuer = url(ports.side);
  return {
    ...{ server: 'http', startsOut: true, root: component(issuer, {}) },
    headers: { cookie: cookieOf(sealedSession({ issuer, left: 0 })) },
    endpoint: { extra_config: { 'auth/oidc': {} }, backend: plain(ports) },
  };
}

/** A session in Redis. */
export function loginInRedis(ports: Ports): Stage {
  const issuer = 'https://id.test';
  const handle = randomBytes(32).toString('base64url');
  const scope = createHash('sha256').update(`${issuer} ${CLIENT.client_id}`).digest('base64url').slice(0, 22);
  const key = `sluice:oidc:${scope}:session:${hash('sha256', handle, 'base64url')}`;
  return {
    server: 'redis',
    root: { ...redisRoot(ports.side), ...component(issuer, { connection_name: 'r' }) },
    headers: { cookie: cookieOf(handle) },
    stored: [key, sealedSession({ issuer, left: 3600 })],
    endpoint: { extra_config: { 'auth/oidc': {} }, backend: plain(ports) },
  };
}
