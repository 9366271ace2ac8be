import type { Mirror, Site } from '#contract';
import { News } from '../../shared/calls/news.ts';
import { ISSUE_MS, type TokenServer } from './token-server.ts';

/** A token and the end of its use, in milliseconds of the clock. */
export interface Token {
  readonly authorization: string;
  readonly issuedAt: number;
  readonly usableUntil: number;
}

/** Message between processes: a token, its age and remaining lifetime, or a failure. */
type Change = { authorization: string; ageMs: number; leftMs: number | null } | { failed: string };

/** State of a shared token in one process. */
class Held {
  token: Token | null = null;
  /** Reason why the last token request failed. */
  failure = '';
  obtaining: Promise<Token> | null = null;
  readonly news = new News();

  learn(change: Change, now: number): void {
    if ('failed' in change) this.failure = change.failed;
    else {
      const { authorization, ageMs, leftMs } = change;
      this.token = { authorization, issuedAt: now - ageMs, usableUntil: now + (leftMs ?? Number.POSITIVE_INFINITY) };
      this.failure = '';
    }
    this.news.spread();
  }
}

/** Decides which process may request a token: one at a time. */
class IssueGate {
  busyUntil = Number.NEGATIVE_INFINITY;

  /** @returns 1 if the process may request a token, 0 if another process is requesting one. */
  ask(requested: 'begin' | 'end', now: number): number {
    if (requested === 'begin' && now < this.busyUntil) return 0;
    // Permission expires after a time, because the process that has it may die before it reports.
    this.busyUntil = requested === 'begin' ? now + ISSUE_MS : Number.NEGATIVE_INFINITY;
    return 1;
  }
}

/** Error of a token request whose configuration has been replaced. */
class Abandoned extends Error {}

/** The token of one client: shared by all backends with the same settings and all workers, kept across reloads. */
export class TokenStore {
  readonly #held: Held;
  readonly #mirror: Mirror<Held, Change>;
  readonly #ask: (requested: 'begin' | 'end') => number | Promise<number>;
  readonly #server: TokenServer;
  readonly #now: () => number;
  readonly #end = new AbortController();

  constructor(site: Site<unknown>, key: string, server: TokenServer) {
    const clock = site.use('clock');
    this.#now = () => clock.now();
    this.#server = server;
    this.#mirror = site.mirror<Held, Change>(['token', key], {
      open: () => new Held(),
      apply: (held, change) => held.learn(change, clock.now()),
      snapshot: ({ token, failure }) => (token ? changeOf(token, clock.now()) : { failed: failure }),
    });
    this.#held = this.#mirror.value;
    this.#ask = site.share<IssueGate, 'begin' | 'end', number>(
      ['issue', key],
      () => new IssueGate(),
      (gate, requested) => gate.ask(requested, clock.now()),
    );
    site.defer(() => this.#end.abort());
  }

  /** @returns the token; a promise if it must be requested, which rejects with the cause. */
  get(): Token | Promise<Token> {
    const held = this.#held;
    if (held.token && this.#now() < held.token.usableUntil) return held.token;
    held.obtaining ??= this.#obtain().finally(() => {
      held.obtaining = null;
    });
    return this.#wait(held.obtaining);
  }

  /** Drops a token that a backend has rejected. @returns false for a token so young that a new one would be rejected too. */
  dropRefused(token: Token, leastAgeMs: number): boolean {
    if (this.#now() - token.issuedAt <= leastAgeMs) return false;
    if (this.#held.token === token) this.#held.token = null;
    return true;
  }

  /** Requests the token again if the configuration that was requesting it is gone. */
  async #wait(obtaining: Promise<Token>): Promise<Token> {
    try {
      return await obtaining;
    } catch (error) {
      if (error instanceof Abandoned && !this.#end.signal.aborted) return this.get();
      throw error;
    }
  }

  async #obtain(): Promise<Token> {
    const held = this.#held;
    const { signal } = this.#end;
    const { news } = held;
    const heard = news.count;
    while (!(await this.#mayAsk())) {
      // Checked once more, because the token that another process has requested may have arrived together with the
      // response.
      if (news.count === heard) await news.next(ISSUE_MS, signal);
      if (signal.aborted) throw new Abandoned('the configuration was replaced');
      if (news.count === heard) continue;
      if (held.failure !== '') throw new Error(held.failure);
      if (held.token) return held.token;
    }
    // If another process has finished in the meantime, its token has already arrived here.
    if (news.count !== heard && held.token && this.#now() < held.token.usableUntil) {
      this.#ended();
      return held.token;
    }
    try {
      const { authorization, lifeMs } = await this.#server.issue(signal);
      const now = this.#now();
      const usableUntil = now + (lifeMs === null ? Number.POSITIVE_INFINITY : lifeMs - this.#server.reserveMs);
      const token = { authorization, issuedAt: now, usableUntil };
      this.#mirror.change(changeOf(token, now));
      // Workers also receive the token later, with the message to all processes.
      held.token = token;
      return token;
    } catch (error) {
      if (signal.aborted) throw new Abandoned('the configuration was replaced');
      this.#mirror.change({ failed: (error as Error).message });
      throw error;
    } finally {
      this.#ended();
    }
  }

  #ended(): void {
    void Promise.resolve(this.#ask('end')).catch(() => {});
  }

  async #mayAsk(): Promise<boolean> {
    try {
      return (await this.#ask('begin')) === 1;
    } catch {
      // The process that decides has ended, so no other process requests a token for this one.
      return true;
    }
  }
}

function changeOf({ authorization, issuedAt, usableUntil }: Token, now: number): Change {
  const leftMs = Number.isFinite(usableUntil) ? usableUntil - now : null;
  return { authorization, ageMs: now - issuedAt, leftMs };
}
