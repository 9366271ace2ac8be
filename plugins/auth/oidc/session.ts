import { type DataObject, getKey, isObject, mergeShallow, parseExact } from '#contract';
import { frozen, readClaims } from '../validator/token.ts';

/** Time before its expiry at which an access token is refreshed, in seconds. */
export const EARLY = 10;

/** A user who is logged in. */
export interface Session {
  readonly idToken: string;
  readonly accessToken: string;
  /** Refresh token; null if the provider has issued none. */
  readonly refreshToken: string | null;
  /** Time at which the access token expires, in seconds since 1970; null if the provider does not say. */
  readonly expires: number | null;
  /** Time of the login, in seconds since 1970, with a precision of one millisecond. */
  readonly startedAt: number;
  /** Claims of the ID token, and of the userinfo endpoint if that is used. Frozen. */
  readonly claims: Readonly<DataObject>;
}

/** Parts of a session that are stored. Its claims are read from the stored ID token. */
interface Stored {
  readonly i: string;
  readonly a: string;
  readonly r: string | null;
  readonly e: number | null;
  readonly s: number;
  readonly u: string;
}

/** Serializes a session. @param userInfo response of the userinfo endpoint; empty if that is not used. */
export function sessionText(session: Omit<Session, 'claims'>, userInfo: string): string {
  const { idToken, accessToken, refreshToken, expires, startedAt } = session;
  const stored: Stored = { i: idToken, a: accessToken, r: refreshToken, e: expires, s: startedAt, u: userInfo };
  return JSON.stringify(stored);
}

/** Parses the text of a session that was decrypted. @returns null if its claims are not valid. */
export function readSession(text: string): Session | null {
  const { i, a, r, e, s, u } = JSON.parse(text) as Stored;
  const claims = claimsOf(i, u);
  return claims && { idToken: i, accessToken: a, refreshToken: r, expires: e, startedAt: s, claims };
}

/** Subject of the user of a session. */
export function subjectOf({ claims }: Session): string {
  return String(getKey(claims, 'sub'));
}

/** Identifies a session across its refreshes. */
export function ownId(session: Session): string {
  return `${session.startedAt} ${subjectOf(session)}`;
}

/** Merges the claims of a verified ID token with the claims of the userinfo endpoint, which take precedence except for claims that describe the token. */
function claimsOf(idToken: string, userInfo: string): Readonly<DataObject> | null {
  const payload = Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString();
  const claims = readClaims(payload);
  if (typeof claims === 'string') return null;
  if (userInfo === '') return claims;
  const more: unknown = parseExact(userInfo);
  return isObject(more) ? frozen(mergeShallow([claims, more, ofToken(claims)])) : null;
}

const describing = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'nonce', 'azp', 'auth_time', 'acr', 'amr', 'sid', 'jti'],
]);

function ofToken(claims: DataObject): DataObject {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => describing.has(name)));
}
