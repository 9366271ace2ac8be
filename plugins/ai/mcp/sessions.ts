import { randomUUID } from 'node:crypto';

/** Idle timeout of sessions, in milliseconds. */
const IDLE_MS = 30 * 60_000;
/** Maximum number of sessions per server, at about 200 bytes each. Beyond it, the least recently used are removed. */
export const MAX_SESSIONS = 10_000;

/** Request to the sessions of a server, from any process. */
export type SessionQuestion =
  | { readonly ask: 'open'; readonly version: string }
  | { readonly ask: 'version' | 'end'; readonly session: string }
  /** Checks that the session exists. A non-empty `ping` is the ID of a ping that is about to be sent to the client. */
  | { readonly ask: 'listen'; readonly session: string; readonly ping: string }
  | { readonly ask: 'responded'; readonly session: string; readonly ping: string };

/** A request with the digest of the client that made it. */
export type OwnedQuestion = SessionQuestion & { readonly owner: string };

interface Session {
  readonly version: string;
  /** Digest of the client that opened the session; empty without authentication. */
  readonly owner: string;
  usedAt: number;
  /** ID of the ping that the client has not answered yet; empty without one. */
  ping: string;
}

/** Sessions of the clients that have initialized a connection to a server. */
export class Sessions {
  /** Sessions by ID, least recently used first. */
  readonly #sessions = new Map<string, Session>();

  get size(): number {
    return this.#sessions.size;
  }

  /**
   * Handles a request to a session. The sessions of other clients count as unknown.
   * @param question request with the digest of the client.
   * @returns the session ID for `open`, the protocol version for `version`, and the session for `listen`. Null if the
   * session does not exist, or if its client has not answered the previous ping.
   */
  reply(question: OwnedQuestion, now: number): string | null {
    this.#forget(now);
    if (question.ask === 'open') return this.#open(question.version, question.owner, now);
    const session = this.#sessions.get(question.session);
    if (session?.owner !== question.owner) return null;
    this.#sessions.delete(question.session);
    if (question.ask === 'end') return null;
    session.usedAt = now;
    this.#sessions.set(question.session, session);
    switch (question.ask) {
      case 'version':
        return session.version;
      case 'responded':
        if (session.ping === question.ping) session.ping = '';
        return question.session;
      case 'listen':
        if (question.ping === '') session.ping = '';
        else if (session.ping !== '') {
          session.ping = '';
          return null;
        } else session.ping = question.ping;
        return question.session;
    }
  }

  #open(version: string, owner: string, now: number): string {
    const name = randomUUID();
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size < MAX_SESSIONS) break;
      this.#sessions.delete(oldest);
    }
    this.#sessions.set(name, { version, owner, usedAt: now, ping: '' });
    return name;
  }

  #forget(now: number): void {
    for (const [name, { usedAt }] of this.#sessions) {
      if (now - usedAt < IDLE_MS) return;
      this.#sessions.delete(name);
    }
  }
}
