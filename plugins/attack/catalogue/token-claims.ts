import type { Attack, AuditedComponent } from '#contract';
import { type ForgedToken, firstAccepted, validatorOf } from '../forged-tokens.ts';
import { claimsFor } from '../stage/tokens.ts';

/** A time in the past and one in the future, in seconds since 1970. */
const [PAST, FUTURE] = [1_000_000_000, 4_000_000_000];

export const tokenClaims: Attack = {
  name: 'token-claims',
  severity: 'CRITICAL',
  title: 'A validator accepts tokens whose claims do not permit the request',
  description:
    'Sends correctly signed tokens that are expired or not valid yet, with another issuer or audience than configured, without the required roles and scopes, with repeated claims and with times of a wrong type. A finding is a token that the endpoint accepts.',
  applies: (endpoint) => validatorOf(endpoint) !== undefined,
  async run(target) {
    const validator = validatorOf(target)!;
    const accepted = await firstAccepted(target, forgeries(validator));
    if (!accepted) return [];
    return [
      {
        shown: `The endpoint accepted a token ${accepted.forgery.why}.`,
        remedy: 'Set issuer, audience, roles and scopes of auth/validator to what the endpoint requires.',
        pointer: validator.pointer,
        requests: [accepted.request],
      },
    ];
  },
};

function forgeries({ settings }: AuditedComponent): ForgedToken[] {
  const claims = claimsFor(settings, 'attack-mallory');
  const text = JSON.stringify(claims);
  const always: ForgedToken[] = [
    { why: 'that has expired', claims: { exp: PAST } },
    { why: 'that is not valid yet', claims: { nbf: FUTURE } },
    { why: 'whose expiry is a text', claims: { exp: 'never' } },
    { why: 'that was issued in the future', claims: { iat: FUTURE } },
    { why: 'with a repeated claim', payload: text.replace('{', '{"exp":1,') },
    { why: 'whose payload is an array', payload: `[${text}]` },
  ];
  const [roles, scopes] = [rightsOf(settings, 'roles'), rightsOf(settings, 'scopes')];
  return [
    ...always,
    ...(claims['iss'] === undefined ? [] : [{ why: 'of another issuer', claims: { iss: 'https://attacker.invalid' } }]),
    ...(claims['aud'] === undefined ? [] : [{ why: 'for another audience', claims: { aud: ['another'] } }]),
    ...(roles ? [{ why: 'without the required roles', payload: without(text, roles) }] : []),
    ...(scopes ? [{ why: 'without the required scopes', payload: without(text, scopes) }] : []),
  ];
}

/** Values of the claim with roles or scopes, as in the token. */
function rightsOf(settings: AuditedComponent['settings'], name: 'roles' | 'scopes'): string | undefined {
  const list = settings[name];
  if (!Array.isArray(list) || list.length === 0) return undefined;
  return JSON.stringify(name === 'roles' ? list : list.join(' '));
}

function without(text: string, rights: string): string {
  return text.replace(rights, '"none"');
}
