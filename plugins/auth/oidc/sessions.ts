import type { Call } from '#contract';
import { nameOf, type TokenCache } from '../validator/token-cache.ts';
import { MAX_VALUE } from './cookies.ts';
import type { Seal } from './sealing.ts';
import { readSession, type Session } from './session.ts';

/** A session of a request. */
export interface Found {
  /** Value of the session cookie. */
  readonly handle: string;
  readonly session: Session;
}

/** Storage of the sessions of one provider. */
export interface Sessions {
  /** The session of a cookie value; null if it is not valid, or has ended. */
  find(handle: string, call: Call): Session | null | Promise<Session | null>;
  /** Stores a new session. @param sealed see `SessionSeal`. @returns the value of its cookie. @throws SessionTooLarge. */
  create(session: Session, sealed: string, call: Call): Promise<string>;
  /** Replaces a session that is refreshed, unless it has ended meanwhile. */
  replace(handle: string, sealed: string, session: Session, call: Call): Promise<void>;
  /** Value of the cookie of a session that is refreshed. */
  handleOf(handle: string, sealed: string): string;
  /** Ends a session. */
  delete(handle: string, call: Call): Promise<void>;
}

/** A session that does not fit into cookies. */
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
  /** @returns null for anything else, and beyond `max_age`. */
  open(sealed: string): Session | null;
}

export function sessionSeal(seal: Seal, provider: string, maxAgeMs: number): SessionSeal {
  const purpose = `session ${provider}`;
  return {
    close: (text) => seal.close(purpose, text),
    open(sealed) {
      const text = seal.open(purpose, sealed);
      const session = text === null ? null : readSession(text);
      return session && isRunning(session, maxAgeMs) ? session : null;
    },
  };
}

function isRunning({ startedAt }: Session, maxAgeMs: number): boolean {
  return Date.now() < startedAt * 1000 + maxAgeMs;
}

/** A decrypted session, for `TokenCache`. */
interface Opened {
  readonly session: Session;
  readonly length: number;
}

/** Decrypted sessions, by cookie value. */
export type OpenedSessions = TokenCache<Opened>;

/** Sessions in cookies: the gateway stores nothing, so they outlive restarts and are the same in all processes. */
export class CookieSessions implements Sessions {
  readonly #seal: SessionSeal;
  readonly #opened: OpenedSessions;
  readonly #maxAgeMs: number;

  constructor(seal: SessionSeal, opened: OpenedSessions, maxAgeMs: number) {
    this.#seal = seal;
    this.#opened = opened;
    this.#maxAgeMs = maxAgeMs;
  }

  find(handle: string): Session | null {
    if (handle.length > MAX_VALUE) return null;
    const name = nameOf(handle);
    const known = this.#opened.get(name);
    if (known) return isRunning(known.session, this.#maxAgeMs) ? known.session : null;
    const session = this.#seal.open(handle);
    if (session) this.#opened.set(name, { session, length: handle.length });
    return session;
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

  async delete(): Promise<void> {}
}
