import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Call, Log } from '#contract';
import { during } from '../../shared/calls/during.ts';
import { underOwnCall } from '../../shared/calls/own-call.ts';
import { Undecided } from '../lib/undecided.ts';
import type { Exchange } from './exchange.ts';
import { EARLY, type Session, subjectOf } from './session.ts';
import type { Found, SessionSeal, Sessions } from './sessions.ts';
import type { Turns } from './turns.ts';

/** Minimum time for which a result is kept, so that waiting requests receive it, in milliseconds. */
const SHORTEST_MS = 1000;
/** Interval of polling for the result of another process, in milliseconds. */
const POLL_MS = 50;

/** Time for which a result is kept for requests with the older session, in milliseconds. */
const KEPT_MS = 60_000;

/**
 * Time for which the result of a refresh is kept, in milliseconds. If the provider does not replace the refresh token,
 * the same token is used again when the access token expires; the earlier result must have been removed by then.
 */
function keptMs(before: Session, { refreshToken, expires }: Session): number {
  if (refreshToken !== before.refreshToken || expires === null) return KEPT_MS;
  return Math.min(KEPT_MS, Math.max((expires - EARLY) * 1000 - Date.now(), SHORTEST_MS));
}

/** Result of a refresh: null if the provider has ended the session. */
export type Refreshed = Found | null;

interface RefreshSettings {
  readonly sessions: Sessions;
  readonly seal: SessionSeal;
  readonly turns: Turns;
  readonly exchange: Exchange;
  readonly log: Log;
  /** Maximum duration of a refresh, in milliseconds. */
  readonly limitMs: number;
}

/** Maximum duration of all requests of a refresh: token, keys and user info. @param timeoutMs of one request. */
export const refreshLimit = (timeoutMs: number): number => timeoutMs * 4;

/** Refreshes sessions: sends one request for each refresh token, regardless of the number of client requests, workers and gateways. */
export class Refresher {
  readonly #settings: RefreshSettings;
  readonly #pending = new Map<string, Promise<Refreshed>>();

  constructor(settings: RefreshSettings) {
    this.#settings = settings;
  }

  /**
   * Refreshes a session that has a refresh token. A refresh continues after its client has disconnected, because the
   * provider may have replaced the token already. @throws Undecided; the call's abort reason.
   */
  refresh(found: Found, call: Call): Promise<Refreshed> {
    const key = hash('sha256', found.session.refreshToken!, 'base64url');
    let pending = this.#pending.get(key);
    if (!pending) {
      pending = this.#begin(key, found).finally(() => this.#pending.delete(key));
      pending.catch(() => {});
      this.#pending.set(key, pending);
    }
    call.host?.background(pending.catch(() => {}));
    return during(call, pending);
  }

  #begin(key: string, found: Found): Promise<Refreshed> {
    const { log, limitMs } = this.#settings;
    return underOwnCall(log, limitMs, new AbortController().signal, (call) => this.#inTurn(key, found, call));
  }

  async #inTurn(key: string, found: Found, call: Call): Promise<Refreshed> {
    const { turns, seal, sessions } = this.#settings;
    while (call.reason === null) {
      const turn = await turns.claim(key, call);
      if (turn === 'mine') return this.#refresh(key, found, call);
      if (turn === 'taken') {
        await delay(POLL_MS, undefined, { ref: false });
        continue;
      }
      const session = seal.open(turn.result);
      return session && { handle: sessions.handleOf(found.handle, turn.result), session };
    }
    throw new Undecided('the session was not refreshed in time', true);
  }

  async #refresh(key: string, { handle, session }: Found, call: Call): Promise<Refreshed> {
    const { turns, sessions } = this.#settings;
    const renewed = await this.#renew(session, call).catch(async (error: Error) => {
      await turns.settle(key, null, 0, call).catch(() => {});
      throw error;
    });
    // Stored before the session: the provider has replaced the refresh token, so the other processes need the result
    // even if the session cannot be stored.
    await turns.settle(key, renewed?.sealed ?? null, renewed ? keptMs(session, renewed.session) : 0, call);
    if (!renewed) {
      await sessions.delete(handle, call);
      return null;
    }
    await sessions.replace(handle, renewed.sealed, renewed.session, call);
    return { handle: sessions.handleOf(handle, renewed.sealed), session: renewed.session };
  }

  /** Returns the new session; null if the provider has ended the session, or assigns it to another user. */
  async #renew(session: Session, call: Call): Promise<{ readonly sealed: string; readonly session: Session } | null> {
    const { seal, exchange } = this.#settings;
    const text = await exchange.refresh(session, call);
    if (text === null) return null;
    const sealed = seal.close(text);
    const renewed = seal.open(sealed);
    return renewed && subjectOf(renewed) === subjectOf(session) ? { sealed, session: renewed } : null;
  }
}
