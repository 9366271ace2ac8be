import { hashSync } from 'bcryptjs';
import { answering } from './answering.ts';
import type { Attached, Scenario } from './scenario.ts';
import { tokens } from './tokens.ts';

const noOp = { output_encoding: 'no-op', backend: [{ url_pattern: '/small', encoding: 'no-op' }] };

function scenario(name: string, attach: (folder: string) => Attached, more: Partial<Scenario> = {}): Scenario {
  return { name, path: `/bench/${name}`, endpoint: noOp, expected: {}, attach, ...more };
}

const claims = { iss: 'https://id.example.com', sub: 'ada', exp: 4_000_000_000, roles: ['reader'] };
const keys = 'samples/tokens/keys.json';

/** Tokens that the gateway issues, obtains and checks for revocation, and the cost of settings for other endpoints. */
export const credentialScenarios: readonly Scenario[] = [
  // Settings at the root for components that the endpoint does not have.
  scenario('declared-only', (folder) => ({
    service: {
      'auth/validator': { shared_cache_duration: 900 },
      'auth/api-keys': { keys: [{ key: 'key-of-another-endpoint-7f3a9c', roles: ['user'] }] },
      'auth/basic': { users: { ada: hashSync('correct horse battery', 4) } },
      'auth/introspection': {
        ...{ introspection_url: answering(folder, '() => ({ active: true })') },
        ...{ client_id: 'bench', client_secret: 'bench' },
      },
      'governance/processors': {
        quotas: [{ name: 'bench', rules: [{ name: 'gold', limits: [{ amount: 1, unit: 'day' }] }] }],
      },
      'server/static-filesystem': { prefix: '/media', path: folder },
    },
  })),
  // Signs one object of the response with HS256.
  scenario(
    'signer',
    () => ({
      endpoint: {
        'auth/signer': { alg: 'HS256', kid: 'sample', keys_to_sign: ['access_token'], jwk_local_path: keys },
      },
    }),
    {
      answers: { access_token: claims },
      endpoint: { backend: [{ url_pattern: '/small', deny: ['nothing'] }] },
    },
  ),
  // A token of the gateway is obtained once and then cached.
  scenario('client-credentials', (folder) => ({
    backend: {
      'auth/client-credentials': {
        client_id: 'bench',
        client_secret: 'bench',
        token_url: answering(
          folder,
          `() => ({ access_token: 'of-the-benchmark', token_type: 'bearer', expires_in: 3600 })`,
        ),
      },
    },
  })),
  // Includes the validator: the difference to `token-cached` is the cost of 100,000 possible revocations.
  scenario('token-cached-revoker', (folder) => ({
    ...tokens(folder, 'RS256', 1),
    service: {
      'auth/revoker': { N: 100_000, P: 1e-7, hash_name: 'optimal', TTL: 3600, port: 0, token_keys: ['jti', 'sub'] },
    },
  })),
];
