import type { Clock } from '#contract';

export type BreakerState = 'closed' | 'open' | 'half-open';

/** How a call ended; `neither` is one that was cancelled or never made. */
export type Outcome = 'success' | 'failure' | 'neither';

/** What a breaker remembers. No setting is part of it, so it outlives a changed one. */
export interface Breaker {
  state: BreakerState;
  /** When the state, or the window of a closed breaker, began: milliseconds of the clock. */
  since: number;
  /** Failures in a row; only while closed. */
  failures: number;
  /** Counts states and windows: the result of a call let through in an earlier one is ignored. */
  era: number;
  /** The one trial call is under way; only while half-open. */
  trying: boolean;
}

export interface BreakerSettings {
  readonly clock: Clock;
  /** Failures in a row that are tolerated; one more opens the breaker. */
  readonly maxErrors: number;
  /** Length of the window after which a closed breaker forgets its failures, in milliseconds; 0 for never. */
  readonly intervalMs: number;
  /** How long the breaker stays open, in milliseconds. */
  readonly openMs: number;
  /** Told of every change of state. */
  readonly changed: (from: BreakerState, to: BreakerState) => void;
}

/** Answers of `enter` for a call that must not be made. */
export const OPEN = -1;
export const BUSY = -2;

export function createBreaker(clock: Clock): Breaker {
  return { state: 'closed', since: clock.now(), failures: 0, era: 0, trying: false };
}

/**
 * Asks to make a call.
 * @returns a ticket, 0 or more, to be handed to `leave`; `OPEN`, or `BUSY` while half-open with a trial under way.
 */
export function enter(breaker: Breaker, settings: BreakerSettings): number {
  advance(breaker, settings);
  if (breaker.state === 'closed') return breaker.era;
  if (breaker.state === 'open') return OPEN;
  if (breaker.trying) return BUSY;
  breaker.trying = true;
  return breaker.era;
}

/** What the breakers of one backend in other workers are told: it has opened, or closed again. */
export type Turn = {
  readonly state: 'open' | 'closed';
  /** Milliseconds since then. */
  readonly ageMs: number;
};

/** Follows the breaker of another worker. Each makes its own trial, so that one that ends in the middle of it holds up none. */
export function follow(breaker: Breaker, clock: Clock, { state, ageMs }: Turn): void {
  if (state === 'closed' && breaker.state === 'closed') return;
  breaker.state = state;
  breaker.since = clock.now() - ageMs;
  breaker.failures = 0;
  breaker.trying = false;
  breaker.era++;
}

/** Reports how a call ended that `enter` let through. */
export function leave(breaker: Breaker, settings: BreakerSettings, ticket: number, outcome: Outcome): void {
  if (breaker.state === 'closed' && breaker.failures === 0 && outcome !== 'failure') return;
  advance(breaker, settings);
  if (ticket !== breaker.era) return;
  if (breaker.state === 'half-open') {
    breaker.trying = false;
    if (outcome !== 'neither') become(breaker, settings, outcome === 'success' ? 'closed' : 'open');
  } else if (outcome === 'success') {
    breaker.failures = 0;
  } else if (outcome === 'failure' && ++breaker.failures > settings.maxErrors) {
    become(breaker, settings, 'open');
  }
}

/** What time alone changes: a new window while closed, half-open after open. */
function advance(breaker: Breaker, settings: BreakerSettings): void {
  if (breaker.state === 'closed') {
    const { intervalMs } = settings;
    if (intervalMs === 0) return;
    const windows = Math.floor((settings.clock.now() - breaker.since) / intervalMs);
    if (windows < 1) return;
    breaker.since += windows * intervalMs;
    breaker.failures = 0;
    breaker.era++;
  } else if (breaker.state === 'open' && settings.clock.now() - breaker.since >= settings.openMs) {
    become(breaker, settings, 'half-open');
  }
}

function become(breaker: Breaker, settings: BreakerSettings, state: BreakerState): void {
  const from = breaker.state;
  breaker.state = state;
  breaker.since = settings.clock.now();
  breaker.failures = 0;
  breaker.trying = false;
  breaker.era++;
  settings.changed(from, state);
}
