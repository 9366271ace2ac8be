import type { Call } from '#contract';
import { nonceName, type TakeNonce } from '../lib/nonces.ts';
import { nameOf, type TokenCache } from '../validator/token-cache.ts';
import { MAX_VALUE } from './cookies.ts';
import type { EndedSessions } from './ended.ts';
import type { Seal } from './sealing.ts';
import { readSession, type Session } from './session.ts';

/** A session of a request. */
export interface Found {
  /** Value of the session cookie. */
  readonly handle: string;
  readonly session: Session;
}

/** Session store of one provider. */
export interface Sessions {
  /** Finds the session of a cookie value; null if the value is not valid, or the session has ended. */
  find(handle: string, call: Call): Session | null | Promise<Session | null>;
  /** Stores a new session. @param sealed see `SessionSeal`. @returns the value of its cookie. @throws SessionTooLarge. */
  create(session: Session, sealed: string, call: Call): Promise<string>;
  /** Replaces the content of a session after a refresh, unless the session ended during the refresh. */
  replace(handle: string, sealed: string, session: Session, call: Call): Promise<void>;
  /** Value of the cookie of a session after a refresh. */
  handleOf(handle: string, sealed: string): string;
  /** Ends a session. */
  delete(handle: string, call: Call): Promise<void>;
  /** Ends the sessions that belong to a session at the provider, or all sessions of a user. */
  deleteAll(kind: 'sid' | 'sub', value: string, call: Call): Promise<void>;
  /** Whether a value is used for the first time within a period. */
  isFirst(value: string, periodMs: number, call: Call): Promise<boolean>;
  /** Allows a value to be used again, after a failure of `deleteAll`. */
  forget(value: string, call: Call): Promise<void>;
}

/** The session does not fit into cookies. */
export class SessionTooLarge extends Error {
  constructor() {
    super(
      `the session is larger than ${MAX_VALUE} characters of cookies: store sessions in Redis, with connection_name`,
    );
  }
}

/** Encrypts and decrypts the sessions of one provider. */
export interface SessionSeal {
  close(text: string): string;
  /** Decrypts a session. @returns null for a text that is not valid, and for a session older than `max_age`. */
  open(sealed: string): Session | null;
}

/** A decrypted session, for `TokenCache`. */
interface Opened {
  readonly session: Session;
  readonly length: number;
}

/** Decrypted sessions, by their encrypted texts. */
export type OpenedSessions = TokenCache<Opened>;

/** @param identity identifies the provider and the client. A session is valid only with the same identity. */
export function sessionSeal(seal: Seal, identity: string, maxAgeMs: number, opened: OpenedSessions): SessionSeal {
  const purpose = `session ${identity}`;
  const read = (sealed: string): Session | null => {
    const name = nameOf(sealed);
    const known = opened.get(name);
    if (known) return known.session;
    const text = seal.open(purpose, sealed);
    const session = text === null ? null : readSession(text);
    if (session) opened.set(name, { session, length: sealed.length });
    return session;
  };
  return {
    close: (text) => seal.close(purpose, text),
    open(sealed) {
      const session = read(sealed);
      return session && Date.now() < session.startedAt * 1000 + maxAgeMs ? session : null;
    },
  };
}

/**
 * Sessions in cookies. The gateway stores only the sessions that have ended early, so sessions survive restarts and are
 * valid in all processes.
 */
export class CookieSessions implements Sessions {
  readonly #seal: SessionSeal;
  readonly #ended: EndedSessions;
  readonly #take: TakeNonce;

  constructor(seal: SessionSeal, ended: EndedSessions, take: TakeNonce) {
    this.#seal = seal;
    this.#ended = ended;
    this.#take = take;
  }

  find(handle: string): Session | null {
    const session = handle.length > MAX_VALUE ? null : this.#seal.open(handle);
    return session && !this.#ended.has(session) ? session : null;
  }

  async create(_session: Session, sealed: string): Promise<string> {
    if (sealed.length > MAX_VALUE) throw new SessionTooLarge();
    return sealed;
  }

  async replace(_handle: string, sealed: string): Promise<void> {
    if (sealed.length > MAX_VALUE) throw new SessionTooLarge();
  }

  handleOf(_handle: string, sealed: string): string {
    return sealed;
  }

  async delete(handle: string): Promise<void> {
    const session = this.find(handle);
    if (session) this.#ended.end(session);
  }

  async deleteAll(kind: 'sid' | 'sub', value: string): Promise<void> {
    this.#ended.endAll(kind, value);
  }

  isFirst(value: string, periodMs: number, call: Call): Promise<boolean> {
    return this.#take(nonceName('logout', '', value), periodMs, call);
  }

  async forget(): Promise<void> {}
}
