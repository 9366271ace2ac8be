import type { Mirror, Site } from '#contract';
import { News } from '../news.ts';
import { ISSUE_MS, type TokenServer } from './token-server.ts';

/** A token and until when it is used, in milliseconds of the clock. */
export interface Token {
  readonly authorization: string;
  readonly issuedAt: number;
  readonly usableUntil: number;
}

/** What processes tell one another: a token, how old it is and how long it can be used, or that there is none. */
type Change = { authorization: string; ageMs: number; leftMs: number | null } | { failed: string };

/** What one process knows of a token that all share. */
class Held {
  token: Token | null = null;
  /** Why the last token could not be had. */
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

/** Says which process may ask for a token: one at a time. */
class IssueGate {
  busyUntil = Number.NEGATIVE_INFINITY;

  /** @returns 1 for leave to ask, 0 where another one does. */
  ask(asked: 'begin' | 'end', now: number): number {
    if (asked === 'begin' && now < this.busyUntil) return 0;
    // Whoever has leave may die with it.
    this.busyUntil = asked === 'begin' ? now + ISSUE_MS : Number.NEGATIVE_INFINITY;
    return 1;
  }
}

/** The configuration that was asking for a token is gone. */
class Abandoned extends Error {}

/** The token of one client: one for all backends with the same settings and all workers, kept over reloads. */
export class TokenStore {
  readonly #held: Held;
  readonly #mirror: Mirror<Held, Change>;
  readonly #ask: (asked: 'begin' | 'end') => number | Promise<number>;
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
      (gate, asked) => gate.ask(asked, clock.now()),
    );
    site.defer(() => this.#end.abort());
  }

  /** @returns the token; a promise where it has to be asked for, which fails with the cause. */
  get(): Token | Promise<Token> {
    const held = this.#held;
    if (held.token && this.#now() < held.token.usableUntil) return held.token;
    held.obtaining ??= this.#obtain().finally(() => {
      held.obtaining = null;
    });
    return this.#wait(held.obtaining);
  }

  /** Uses a token no more that a backend has refused. @returns false for one so young that another would be refused, too. */
  dropRefused(token: Token, leastAgeMs: number): boolean {
    if (this.#now() - token.issuedAt <= leastAgeMs) return false;
    if (this.#held.token === token) this.#held.token = null;
    return true;
  }

  /** Where the configuration that asked is gone, this one asks. */
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
      // The news may have come together with the answer.
      if (news.count === heard) await news.next(ISSUE_MS, signal);
      if (signal.aborted) throw new Abandoned('the configuration is gone');
      if (news.count === heard) continue;
      if (held.failure !== '') throw new Error(held.failure);
      if (held.token) return held.token;
    }
    // Leave that was asked for before another process ended comes after its token, which is then known here.
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
      // In a worker the news comes back later.
      held.token = token;
      return token;
    } catch (error) {
      if (signal.aborted) throw new Abandoned('the configuration is gone');
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
      // The process that decides is gone: nobody else asks for this one.
      return true;
    }
  }
}

function changeOf({ authorization, issuedAt, usableUntil }: Token, now: number): Change {
  const leftMs = Number.isFinite(usableUntil) ? usableUntil - now : null;
  return { authorization, ageMs: now - issuedAt, leftMs };
}
