import { CookieJar } from '../../plugins/auth/oidc/cookies.ts';
import { openSeal } from '../../plugins/auth/oidc/sealing.ts';
import { sessionText } from '../../plugins/auth/oidc/session.ts';
import type { Attached } from './scenario.ts';

const provider = { name: 'main', issuer: 'https://id.bench.example', client_id: 'bench', client_secret: 'bench' };
const secret = 'secret-of-the-benchmark'.padEnd(32, '.');

/** Cookie header of a user who has logged in. */
function cookieOf(sub: string): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: provider.issuer, aud: provider.client_id, sub, iat: now, exp: now + 3600, roles: ['user'] };
  const idToken = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${'s'.repeat(342)}`;
  const session = { idToken, accessToken: 'a'.repeat(43), refreshToken: null, expires: now + 3600, startedAt: now };
  const purpose = `session ${JSON.stringify([provider.name, provider.issuer, provider.client_id])}`;
  const sealed = openSeal([secret]).close(purpose, sessionText(session, ''));
  const lines = new CookieJar('oidc', provider.name, 'Lax').store(sealed, 3600, new Map());
  return lines.map((line) => line.slice(0, line.indexOf(';'))).join('; ');
}

/** Sessions in cookies. @param users number of users whose requests alternate. */
export function loggedIn(users: number): Attached {
  return {
    service: {
      'auth/oidc': {
        public_url: 'https://app.bench.example',
        providers: [provider],
        session: { secrets: [secret] },
      },
    },
    endpoint: { 'auth/oidc': { roles: ['user'] } },
    headers: Array.from({ length: users }, (_, at) => ({ cookie: cookieOf(`user-${at}`) })),
  };
}
