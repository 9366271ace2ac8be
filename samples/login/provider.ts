import { generateKeyPairSync } from 'node:crypto';
import Provider from 'oidc-provider';

/**
 * An OpenID Connect provider for this sample: every name and password logs in. For demonstrations only, since it keeps
 * everything in memory.
 *
 *     node samples/login/provider.ts http://localhost:9000 http://localhost:8080
 */
const [issuer, gateway] = process.argv.slice(2) as [string, string];

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const provider = new Provider(issuer, {
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'sample', use: 'sig', alg: 'RS256' } as never] },
  cookies: { keys: ['secret-of-the-sample'] },
  clients: [
    {
      client_id: 'gateway',
      client_secret: 'secret-of-the-gateway',
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: [`${gateway}/oidc/staff/callback`],
      post_logout_redirect_uris: [`${gateway}/goodbye`],
    },
  ],
  claims: { openid: ['sub'], profile: ['name', 'roles'] },
  findAccount: (_context, sub) => ({
    accountId: sub,
    claims: () => ({ sub, name: sub.toUpperCase(), roles: sub === 'ada' ? ['admin', 'user'] : ['user'] }),
  }),
  issueRefreshToken: () => true,
  ttl: { AccessToken: 300, Grant: 3600, IdToken: 300, Interaction: 600, RefreshToken: 3600, Session: 3600 },
});

provider.listen(Number(new URL(issuer).port), 'localhost', () => console.log(`provider at ${issuer}`));
