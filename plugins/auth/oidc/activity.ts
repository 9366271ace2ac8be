import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { CookieJar, Cookies } from './cookies.ts';
import { ownId, type Session } from './session.ts';

/** Longest interval at which the time of the last request is recorded, in milliseconds. */
const MAX_INTERVAL_MS = 60_000;
const KEY_BYTES = 32;
/** A time in seconds since 1970, and its authentication code. */
const RECORDED = /^(\d{1,12})\.([\w-]{43})$/;

/**
 * Times of the last requests of cookie sessions, in a cookie of their own. It is separate from the session, because
 * requests that overlap with a refresh would restore the older session. Bound to one session by an authentication code.
 */
export class Activity {
  readonly #jar: CookieJar;
  readonly #keys: readonly Buffer[];
  readonly #idleMs: number;
  readonly #intervalMs: number;
  /** Records that were verified last: verifying the code of a record costs more than the rest of a request. */
  readonly #verified = new WeakMap<Session, string>();

  /**
   * @param secrets the first one authenticates, all of them verify. @param client identifies the provider and the client.
   * @param idleMs maximum time between two requests, in milliseconds.
   */
  constructor(jar: CookieJar, secrets: readonly string[], client: string, idleMs: number) {
    this.#jar = jar;
    this.#keys = secrets.map((secret) =>
      Buffer.from(hkdfSync('sha256', secret, '', `sluice oidc activity ${client}`, KEY_BYTES)),
    );
    this.#idleMs = idleMs;
    this.#intervalMs = Math.min(idleMs / 20, MAX_INTERVAL_MS);
  }

  /** Time since the last recorded request of a session, in milliseconds; infinite without a valid record. */
  idleFor(session: Session, cookies: Cookies): number {
    const value = this.#jar.activity(cookies);
    const [, seconds, code] = RECORDED.exec(value) ?? [];
    if (seconds === undefined) return Number.POSITIVE_INFINITY;
    const known = this.#verified.get(session);
    if (known === undefined || !isSame(known, value)) {
      if (!this.#isOwn(session, seconds, code!)) return Number.POSITIVE_INFINITY;
      this.#verified.set(session, value);
    }
    return Date.now() - Number(seconds) * 1000;
  }

  /** True if a session has ended, because its last request was too long ago. */
  isOver(idleMs: number): boolean {
    return idleMs >= this.#idleMs;
  }

  /** True if the current request must be recorded. */
  isDue(idleMs: number): boolean {
    return idleMs >= this.#intervalMs;
  }

  /** `Set-Cookie` line that records a request of a session. */
  record(session: Session): string {
    const seconds = String(Math.floor(Date.now() / 1000));
    const code = codeOf(this.#keys[0]!, session, seconds).toString('base64url');
    return this.#jar.storeActivity(`${seconds}.${code}`, Math.ceil(this.#idleMs / 1000));
  }

  #isOwn(session: Session, seconds: string, code: string): boolean {
    const given = Buffer.from(code, 'base64url');
    return this.#keys.some((key) => timingSafeEqual(codeOf(key, session, seconds), given));
  }
}

function codeOf(key: Buffer, session: Session, seconds: string): Buffer {
  return createHmac('sha256', key)
    .update(`${seconds} ${ownId(session)}`)
    .digest();
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
