import { type Data, type DataObject, getKey } from '#contract';

/** Times between which a token is valid, in seconds since 1970; infinite if not specified. */
export interface Times {
  readonly notBefore: number;
  readonly expires: number;
  readonly issued: number;
}

/** Reads the registered claims. Returns the reason if a claim has an invalid type. */
export function readRegistered(claims: DataObject): Times | string {
  const times = {
    notBefore: timeOf(claims, 'nbf', Number.NEGATIVE_INFINITY),
    expires: timeOf(claims, 'exp', Number.POSITIVE_INFINITY),
    issued: timeOf(claims, 'iat', Number.NEGATIVE_INFINITY),
  };
  if (Number.isNaN(times.notBefore) || Number.isNaN(times.expires) || Number.isNaN(times.issued))
    return 'a time claim is not a number';
  const issuer = getKey(claims, 'iss');
  if (issuer !== undefined && typeof issuer !== 'string') return 'the claim iss is not a string';
  const audience = getKey(claims, 'aud');
  if (audience !== undefined && audienceOf(audience) === null)
    return 'the claim aud is not a string or an array of strings';
  return times;
}

/** Reads a time, truncated to whole seconds; NaN if it is invalid. */
function timeOf(claims: DataObject, name: string, missing: number): number {
  const value = getKey(claims, name);
  if (value === undefined) return missing;
  const number = JSON.isRawJSON(value) ? Number(value.rawJSON) : value;
  return typeof number === 'number' && Number.isFinite(number) ? Math.trunc(number) : Number.NaN;
}

function audienceOf(value: Data): readonly string[] | null {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) && value.every((member) => typeof member === 'string') ? (value as string[]) : null;
}

/** Returns why a token is not valid at the given time; null if it is valid. @param now in seconds, like `leeway`. */
export function untimely({ notBefore, expires, issued }: Times, now: number, leeway: number): string | null {
  if (now + leeway < notBefore) return 'the token is not valid yet';
  if (now - leeway > expires) return 'the token has expired';
  return now + leeway < issued ? 'the token was issued in the future' : null;
}

/** Returns why a token is not intended for this endpoint; null if it is. @param issuer empty accepts any issuer. */
export function misdirected(claims: DataObject, issuer: string, audience: readonly string[]): string | null {
  if (issuer !== '' && getKey(claims, 'iss') !== issuer) return 'the issuer does not match';
  const meant = audienceOf(getKey(claims, 'aud') ?? []) ?? [];
  return audience.every((one) => meant.includes(one)) ? null : 'the audience does not match';
}
