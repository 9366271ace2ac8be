import { quantile, type TrafficWindow } from '../pipeline/traffic-window.ts';
import { systemTimers, type Timers } from '../runtime/watch/timers.ts';

/** What counts as worse than before. */
export interface GuardThresholds {
  /** The share of failed calls may rise by as many percentage points. */
  readonly errorRatePoints: number;
  /** The latency that one call in a hundred exceeds may grow to as many times what it was. */
  readonly p99Factor: number;
  /** Fewer calls than this tell nothing. */
  readonly minimumCalls: number;
}

export const defaultThresholds: GuardThresholds = { errorRatePoints: 5, p99Factor: 2, minimumCalls: 20 };

/** A p99 that grew by less, in milliseconds, is not worse whatever the factor: very fast endpoints vary a lot. */
const NOTICEABLE_MS = 50;

/**
 * Compares an endpoint's traffic before and after a change. Without traffic before, errors are compared with none, and
 * latency with nothing.
 * @returns why it is worse; null when it is not.
 */
export function evaluate(before: TrafficWindow, after: TrafficWindow, thresholds = defaultThresholds): string | null {
  if (after.calls < thresholds.minimumCalls) return null;
  return moreErrors(before, after, thresholds) ?? slower(before, after, thresholds);
}

function moreErrors(before: TrafficWindow, after: TrafficWindow, { errorRatePoints }: GuardThresholds): string | null {
  const was = errorPercentage(before);
  const is = errorPercentage(after);
  if (is - was <= errorRatePoints) return null;
  return `errors rose from ${was.toFixed(1)} % to ${is.toFixed(1)} % (${after.errors} of ${after.calls} calls)`;
}

function errorPercentage({ calls, errors }: TrafficWindow): number {
  return calls === 0 ? 0 : (100 * errors) / calls;
}

function slower(before: TrafficWindow, after: TrafficWindow, { p99Factor }: GuardThresholds): string | null {
  const was = quantile(before, 0.99);
  const is = quantile(after, 0.99);
  if (was === null || is === null || is <= was * p99Factor || is - was < NOTICEABLE_MS) return null;
  return `p99 rose from ${was.toFixed(1)} ms to ${is.toFixed(1)} ms (${after.calls} calls)`;
}

/** One endpoint, as the guard compares it. */
export interface GuardedEndpoint {
  /** How a reason names it. */
  readonly key: string;
  /** What it served before the change; must not change while it is watched. */
  readonly before: TrafficWindow;
  /** What it has served since. */
  readonly after: TrafficWindow;
}

export interface GuardOptions {
  /** How long to watch. */
  readonly durationMs: number;
  readonly thresholds?: GuardThresholds;
  /** Asked anew each time. */
  endpoints(): Iterable<GuardedEndpoint>;
  /** Some endpoint is worse; the reason names the first and counts the others. Nothing is called after it. */
  onWorse(reason: string): void;
  /** The time is over and nothing was worse. */
  onPassed(): void;
  /** The time is over, and no endpoint had enough calls to be evaluated. @param calls of all of them together. */
  onUndecided(calls: number): void;
  /** Time between two looks. Default 1000. */
  readonly intervalMs?: number;
  readonly timers?: Timers;
}

/**
 * Watches a change that is already live. Exactly one of `onWorse`, `onPassed` and `onUndecided` is called, once, unless it
 * is stopped before.
 */
export function watchGuard({
  durationMs,
  thresholds = defaultThresholds,
  endpoints,
  onWorse,
  onPassed,
  onUndecided,
  intervalMs = 1000,
  timers = systemTimers,
}: GuardOptions): { stop(): void } {
  const endsAt = timers.now() + durationMs;
  let cancel = () => {};
  const wait = (): void => {
    cancel = timers.after(Math.min(intervalMs, endsAt - timers.now()), look);
  };
  const look = (): void => {
    const reason = worst(endpoints(), thresholds);
    if (reason !== null) onWorse(reason);
    else if (timers.now() < endsAt) wait();
    else end();
  };
  const end = (): void => {
    const calls = Array.from(endpoints(), ({ after }) => after.calls);
    if (calls.some((count) => count >= thresholds.minimumCalls)) onPassed();
    else onUndecided(calls.reduce((sum, count) => sum + count, 0));
  };
  wait();
  return { stop: () => cancel() };
}

function worst(endpoints: Iterable<GuardedEndpoint>, thresholds: GuardThresholds): string | null {
  let first: string | null = null;
  let others = 0;
  for (const { key, before, after } of endpoints) {
    const reason = evaluate(before, after, thresholds);
    if (reason === null) continue;
    if (first === null) first = `${key}: ${reason}`;
    else others++;
  }
  return others > 0 ? `${first}, and ${others} more` : first;
}

/** How the guard over a change stands; another one takes its place when that changes. */
export interface GuardState {
  /**
   * `undecided`: too few calls to decide; `superseded`: another change came before its time was over; `failed`: the change
   * was worse and could not be rolled back.
   */
  readonly state: 'watching' | 'passed' | 'undecided' | 'superseded' | 'rolled-back' | 'failed';
  /** The revision that is watched over. */
  readonly revision: number;
  /** The attempt that asked for it. */
  readonly attempt: number;
  /** When its time is over, in ISO 8601. */
  readonly endsAt: string;
  /** Why it ended as it did; null while it watches, and when the change has passed. */
  readonly reason: string | null;
  /** The revision that was put in the place of the one rolled back; null when none was. */
  readonly rolledBackTo: number | null;
}
