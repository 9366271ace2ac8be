import type { Clock } from '#contract';

export type BreakerState = 'closed' | 'open' | 'half-open';

/** Outcome of a call; `neither` for a call that was canceled or never made. */
export type Outcome = 'success' | 'failure' | 'neither';

/** State of a breaker. Contains no settings, so that it survives changes to them. */
export interface Breaker {
  state: BreakerState;
  /** Start of the state, or of a closed breaker's window, in milliseconds of the clock. */
  since: number;
  /** Number of consecutive failures, counted only while the breaker is closed. */
  failures: number;
  /** Number of the current state or window. Results of calls that began in an earlier one are ignored. */
  era: number;
  /** Whether the single trial call of a half-open breaker is in progress. */
  trying: boolean;
}

export interface BreakerSettings {
  readonly clock: Clock;
  /** Maximum consecutive failures tolerated; one more opens the breaker. */
  readonly maxErrors: number;
  /** Time after which a closed breaker resets its failures, in milliseconds; 0 for never. */
  readonly intervalMs: number;
  /** Time for which the breaker stays open, in milliseconds. */
  readonly openMs: number;
  /** Called for every change of state. */
  readonly changed: (from: BreakerState, to: BreakerState) => void;
}

/** Return values of `enter` for a call that must not be made. */
export const OPEN = -1;
export const BUSY = -2;

export function createBreaker(clock: Clock): Breaker {
  return { state: 'closed', since: clock.now(), failures: 0, era: 0, trying: false };
}

/**
 * Requests permission for a call.
 * @returns a ticket, 0 or more, to pass to `leave`; `OPEN`, or `BUSY` while half-open with a trial in progress.
 */
export function enter(breaker: Breaker, settings: BreakerSettings): number {
  advance(breaker, settings);
  if (breaker.state === 'closed') return breaker.era;
  if (breaker.state === 'open') return OPEN;
  if (breaker.trying) return BUSY;
  breaker.trying = true;
  return breaker.era;
}

/** State change sent to the breakers of the same backend in other workers: it has opened, or closed again. */
export type Turn = {
  readonly state: 'open' | 'closed';
  /** Time since the change, in milliseconds. */
  readonly ageMs: number;
};

/** Follows the breaker of another worker. Each worker makes its own trial, so that a worker that ends during its trial does not block the others. */
export function follow(breaker: Breaker, clock: Clock, { state, ageMs }: Turn): void {
  if (state === 'closed' && breaker.state === 'closed') return;
  breaker.state = state;
  breaker.since = clock.now() - ageMs;
  breaker.failures = 0;
  breaker.trying = false;
  breaker.era++;
}

/** Reports the outcome of a call that `enter` permitted. */
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

/** Applies changes due to elapsed time: a new window while closed, half-open after open. */
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
