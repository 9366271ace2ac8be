import type { DataObject } from '#contract';
import { keyHeader, type SigningKey, signingKey } from './signing-keys.ts';

/** Settings of a token validator that its tokens depend on. */
type Settings = Readonly<DataObject>;

/** Changes to a valid token. */
export interface Forgery {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Signs in place of the key in the key set; null for an empty signature. */
  readonly key?: Pick<SigningKey, 'sign'> | null;
  /** Payload in place of the claims, for claims that JSON cannot express. */
  readonly payload?: string;
}

/** End of a token's lifetime, in seconds. All tokens of the sandbox are valid until the year 2100. */
const EXPIRES = 4_102_444_800;

/** Valid tokens by settings and owner, so that a caller always has the same one: some signatures are random. */
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
  const alg = String(settings['alg'] ?? 'RS256');
  const header = encoded({ alg, typ: 'JWT', ...keyHeader, ...forgery.header });
  const claims = { ...claimsFor(settings, caller), ...forgery.claims };
  const payload = forgery.payload === undefined ? encoded(claims) : Buffer.from(forgery.payload).toString('base64url');
  const text = `${header}.${payload}`;
  const { key } = forgery;
  if (key === null || (alg === 'none' && key === undefined)) return `${text}.`;
  return `${text}.${(key ?? signingKey(alg)).sign(text)}`;
}

/** Claims that a validator requires. */
export function claimsFor(settings: Settings, caller: string): DataObject {
  const claims: DataObject = { sub: caller, jti: `token-of-${caller}`, exp: EXPIRES };
  for (const pair of listOf(settings['propagate_claims'])) {
    const [claim] = pair as unknown as readonly string[];
    if (claim !== undefined) place(claims, claim, true, caller);
  }
  claims['sub'] = caller;
  const [issuer, audience] = [settings['issuer'], listOf(settings['audience'])];
  if (typeof issuer === 'string' && issuer !== '') claims['iss'] = issuer;
  if (audience.length > 0) claims['aud'] = audience;
  const roles = listOf(settings['roles']);
  if (roles.length > 0) {
    place(claims, String(settings['roles_key'] ?? 'roles'), settings['roles_key_is_nested'] === true, roles);
  }
  const scopes = listOf(settings['scopes']);
  if (scopes.length > 0) place(claims, String(settings['scopes_key'] ?? ''), true, scopes.join(' '));
  return claims;
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? (value as string[]) : [];
}

/** Sets a claim; dots lead into nested objects, unless the name is a URL. */
function place(claims: DataObject, name: string, isNested: boolean, value: DataObject[string]): void {
  const path = isNested && !name.startsWith('http') ? name.split('.') : [name];
  let holder = claims;
  for (const step of path.slice(0, -1)) {
    if (!Object.hasOwn(holder, step) || typeof holder[step] !== 'object') holder[step] = {};
    holder = holder[step] as DataObject;
  }
  holder[path.at(-1)!] = value;
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
