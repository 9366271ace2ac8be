import type { DataObject } from '#contract';
import type { AlgorithmName } from '../../clients/keys/algorithms.ts';
import { requiredClaims, setClaim } from '../../shared/sample-claims/required-claims.ts';
import { keyHeader, type SigningKey, signingKey } from './signing-keys.ts';

/** Settings of a token validator that its tokens depend on. */
type Settings = Readonly<DataObject>;

/** Changes to a valid token. */
export interface Forgery {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Key that signs the token instead of the key in the key set; null for an empty signature. */
  readonly key?: Pick<SigningKey, 'sign'> | null;
  /** Payload in place of the claims, for claims that JSON cannot express. */
  readonly payload?: string;
}

/** End of a token's lifetime, in seconds. All tokens of the sandbox are valid until the year 2100. */
const EXPIRES = 4_102_444_800;

/**
 * Valid tokens by settings and owner. They are kept because some signatures are random, and a caller must always have
 * the same token.
 */
const valid = new WeakMap<Settings, Map<string, string>>();

/** Returns the token of a caller that a validator accepts. */
export function tokenOf(settings: Settings, caller: string): string {
  const known = valid.get(settings) ?? new Map<string, string>();
  valid.set(settings, known);
  const token = known.get(caller) ?? mintToken(settings, caller);
  known.set(caller, token);
  return token;
}

/** Creates a token that a validator accepts, unless it is forged. @param caller name of the token's owner. */
export function mintToken(settings: Settings, caller: string, forgery: Forgery = {}): string {
  const alg = algorithmOf(settings);
  const header = encoded({ alg, typ: 'JWT', ...keyHeader, ...forgery.header });
  const claims = { ...claimsFor(settings, caller), ...forgery.claims };
  const payload = forgery.payload === undefined ? encoded(claims) : Buffer.from(forgery.payload).toString('base64url');
  const text = `${header}.${payload}`;
  const { key } = forgery;
  if (key === null) return `${text}.`;
  return `${text}.${(key ?? signingKey(alg)).sign(text)}`;
}

/** Algorithm of a validator. */
export function algorithmOf(settings: Settings): AlgorithmName {
  return settings['alg'] as AlgorithmName;
}

/** Claims that a validator requires, and those that it propagates. */
export function claimsFor(settings: Settings, caller: string): DataObject {
  const claims: DataObject = { jti: `token-of-${caller}`, exp: EXPIRES };
  const { propagate_claims: propagated } = settings;
  for (const pair of Array.isArray(propagated) ? propagated : []) {
    if (Array.isArray(pair)) setClaim(claims, pair[0] ?? '', true, caller);
  }
  return { ...claims, sub: caller, ...requiredClaims(settings) };
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
