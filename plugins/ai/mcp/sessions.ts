import { randomUUID } from 'node:crypto';

/** Sessions that nobody has used for so long are over, in milliseconds. */
const IDLE_MS = 30 * 60_000;
/** Sessions of a server, some 200 bytes each; of more, those that were used last stay. */
export const MAX_SESSIONS = 10_000;

/** What is asked of the sessions of a server, in whatever process they are. */
export type SessionQuestion =
  | { readonly ask: 'open'; readonly version: string }
  | { readonly ask: 'version' | 'end'; readonly session: string }
  /** Is it still there; with `ping`, that request is about to be sent to its client. Empty for none. */
  | { readonly ask: 'listen'; readonly session: string; readonly ping: string }
  | { readonly ask: 'responded'; readonly session: string; readonly ping: string };

/** A question, with the digest of the client that asks. */
export type OwnedQuestion = SessionQuestion & { readonly owner: string };

interface Session {
  readonly version: string;
  /** Digest of the client that opened it; empty without authentication. */
  readonly owner: string;
  usedAt: number;
  /** What its client has not answered yet; empty for nothing. */
  ping: string;
}

/** The clients of a server that have introduced themselves. */
export class Sessions {
  /** Who was used longest ago comes first. */
  readonly #sessions = new Map<string, Session>();

  get size(): number {
    return this.#sessions.size;
  }

  /**
   * @param question with the digest of the client that asks: the session of another one is not there for it.
   * @returns for `open` the name of the session, for `version` that of the protocol, for `listen` the session; null where
   *   there is no such session, or its client has not answered the ping before this one.
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
