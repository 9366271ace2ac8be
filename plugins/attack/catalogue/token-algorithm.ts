import type { Attack } from '#contract';
import type { AlgorithmName } from '../../clients/keys/algorithms.ts';
import { type ForgedToken, firstAccepted, validatorOf } from '../forged-tokens.ts';
import { createKey, guessedSecret, signingKey } from '../stage/signing-keys.ts';
import { algorithmOf } from '../stage/tokens.ts';

export const tokenAlgorithm: Attack = {
  name: 'token-algorithm',
  severity: 'CRITICAL',
  title: 'A validator accepts tokens that are not signed with the expected algorithm',
  description:
    'Sends tokens with the algorithm none in several spellings, with HMAC signatures whose secret is the public key, without a signature, and signed with another key. A finding is a token that the endpoint accepts.',
  applies: (endpoint) => validatorOf(endpoint) !== undefined,
  async run(target) {
    const { pointer, settings } = validatorOf(target)!;
    const alg = algorithmOf(settings);
    const accepted = await firstAccepted(target, forgeries(alg));
    if (!accepted) return [];
    return [
      {
        shown: `The endpoint accepted a token ${accepted.forgery.why}.`,
        remedy: 'Set "alg" of auth/validator to the algorithm of the identity provider, and let it verify every token.',
        pointer: `${pointer}/alg`,
        requests: [accepted.request],
      },
    ];
  },
};

function forgeries(alg: AlgorithmName): ForgedToken[] {
  const { pem, jwk } = signingKey(alg);
  const secrets = pem === undefined ? [] : [pem, pem.trim(), JSON.stringify(jwk)];
  return [
    ...['none', 'None', 'NONE', ''].map((name) => ({ why: `with alg "${name}"`, header: { alg: name }, key: null })),
    ...secrets.map((secret) => ({
      why: 'signed with HMAC and the public key as secret',
      header: { alg: 'HS256' },
      key: guessedSecret(secret),
    })),
    { why: 'with an empty secret', header: { alg: 'HS256' }, key: guessedSecret('') },
    { why: 'without a signature', key: null },
    { why: 'signed with another key', key: createKey(alg) },
  ];
}
