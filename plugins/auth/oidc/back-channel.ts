import {
  type Call,
  type ClientRequest,
  type DataObject,
  FirstUse,
  getKey,
  isObject,
  type Log,
  type Reply,
  toCallError,
} from '#contract';
import { during } from '../../shared/calls/during.ts';
import { underOwnCall } from '../../shared/calls/own-call.ts';
import { asUndecided } from './exchange.ts';
import type { Provider } from './provider.ts';
import { ownReply, plainText } from './replies.ts';

const library = new FirstUse(() => import('jose'));

/** Accepted signature algorithms of logout tokens. Algorithms with a shared secret are not accepted. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Maximum length of a logout request, in characters. */
const MAX_REQUEST = 32 * 1024;
/** Maximum age of a logout token, and clock skew tolerance, in seconds. */
const MAX_AGE = 300;
const TOLERANCE = 30;
/** Maximum time in which all sessions end, in milliseconds. */
const END_MS = 60_000;
/** Minimum time between two key downloads that unknown key IDs cause, in milliseconds. */
const COOLDOWN_MS = 30_000;

type Keys = ReturnType<Awaited<ReturnType<typeof library.get>>['createRemoteJWKSet']>;

/** Sessions to end: those that belong to one session at the provider, or all sessions of a user. */
interface Ended {
  readonly kind: 'sid' | 'sub';
  readonly value: string;
  readonly id: string;
}

/** Ends sessions on request of the provider (OpenID Connect Back-Channel Logout). */
export class BackChannel {
  readonly #provider: Provider;
  readonly #log: Log;
  #keys: { readonly url: string; readonly keys: Keys } | null = null;

  constructor(provider: Provider, log: Log) {
    this.#provider = provider;
    this.#log = log;
  }

  /** @throws RedisError; Undecided; the call's abort reason. */
  async logOut(request: ClientRequest, call: Call): Promise<{ readonly reply: Reply; readonly reason?: string }> {
    const text = await textOf(request);
    const token = text === null ? null : new URLSearchParams(text).get('logout_token');
    if (!token) return refused('the logout_token is missing');
    let ended: Ended | string;
    try {
      ended = read(await this.#verify(token, call));
    } catch (error) {
      if (call.reason) throw call.reason;
      const reason = asUndecided(error);
      return reason.isOutage
        ? { reply: plainText(503, 'unavailable'), reason: reason.message }
        : refused(reason.message);
    }
    if (typeof ended === 'string') return refused(ended);
    const sessions = ended;
    // Sessions are ended even if the provider disconnects, because its next request with the same token would be
    // rejected.
    const pending = underOwnCall(this.#log, END_MS, new AbortController().signal, (own) => this.#end(sessions, own));
    call.background(pending.catch(() => {}));
    const isFirst = await during(call, pending);
    return isFirst ? { reply: ownReply(200, [], []) } : refused('the logout token was used before');
  }

  /** Ends sessions. @returns false if the logout token was used before. */
  async #end({ kind, value, id }: Ended, call: Call): Promise<boolean> {
    const { sessions } = this.#provider;
    const periodMs = (MAX_AGE + 2 * TOLERANCE) * 1000;
    if (!(await sessions.isFirst(id, periodMs, call))) return false;
    try {
      await sessions.deleteAll(kind, value, call);
    } catch (error) {
      // Releases the logout token, so that the provider can repeat the request, because some sessions may still exist.
      await sessions.forget(id, call).catch(() => {});
      throw error;
    }
    return true;
  }

  async #verify(token: string, call: Call): Promise<DataObject> {
    const { jwtVerify } = await library.get();
    const client = await this.#provider.discovery.client(call);
    const { issuer, jwks_uri: url } = client.serverMetadata();
    const verified = await jwtVerify(token, await this.#keysAt(String(url)), {
      algorithms,
      issuer,
      audience: this.#provider.config.client_id,
      maxTokenAge: MAX_AGE,
      clockTolerance: TOLERANCE,
      requiredClaims: ['iat', 'jti', 'events'],
    });
    return verified.payload as DataObject;
  }

  async #keysAt(url: string): Promise<Keys> {
    if (this.#keys?.url === url) return this.#keys.keys;
    const { createRemoteJWKSet, customFetch } = await library.get();
    const { fetch } = this.#provider;
    const options = {
      [customFetch]: (target: string, init: object) => fetch(target, init as Parameters<typeof fetch>[1]),
      cooldownDuration: COOLDOWN_MS,
    };
    const keys = createRemoteJWKSet(new URL(url), options);
    this.#keys = { url, keys };
    return keys;
  }
}

/** Reads the claims of a verified logout token. @returns the reason if the token is not a valid logout token. */
function read(claims: DataObject): Ended | string {
  const events = getKey(claims, 'events');
  // An ID token must not be accepted as a logout token, because browsers have ID tokens.
  if (!isObject(events) || !isObject(getKey(events, EVENT))) return 'the token is not a logout token';
  if (Object.hasOwn(claims, 'nonce')) return 'a logout token must not have a nonce';
  const { sid, sub, jti } = claims;
  if (typeof jti !== 'string') return 'the jti of the token is not a string';
  if (typeof sid === 'string') return { kind: 'sid', value: sid, id: jti };
  return typeof sub === 'string' ? { kind: 'sub', value: sub, id: jti } : 'the token has neither sid nor sub';
}

async function textOf({ headers, body }: ClientRequest): Promise<string | null> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers.get('content-type') ?? '') || !body) return null;
  try {
    body.restrict(MAX_REQUEST);
    return Buffer.from(await body.bytes()).toString();
  } catch (error) {
    if (toCallError(error).code === 'PAYLOAD_TOO_LARGE') return null;
    throw error;
  }
}

function refused(reason: string): { readonly reply: Reply; readonly reason: string } {
  return { reply: plainText(400, 'The logout token was rejected.'), reason };
}
