import { answering } from './answering.ts';
import type { Attached, Scenario } from './scenario.ts';
import { tokens } from './tokens.ts';

const noOp = { output_encoding: 'no-op', backend: [{ url_pattern: '/small', encoding: 'no-op' }] };

function scenario(name: string, attach: (folder: string) => Attached, more: Partial<Scenario> = {}): Scenario {
  return { name, path: `/bench/${name}`, endpoint: noOp, expected: {}, attach, ...more };
}

const claims = { iss: 'https://id.example.com', sub: 'ada', exp: 4_000_000_000, roles: ['reader'] };
const keys = 'samples/tokens/keys.json';

/** Tokens that the gateway issues, obtains and checks for revocation. */
export const credentialScenarios: readonly Scenario[] = [
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
