import { quantile, type TrafficWindow } from '../pipeline/traffic/window.ts';
import { systemTimers, type Timers } from '../runtime/watch/timers.ts';

/** Thresholds above which an endpoint counts as worse than before. */
export interface GuardThresholds {
  /** Largest allowed increase of the error rate, in percentage points. */
  readonly errorRatePoints: number;
  /** Largest allowed growth of the p99 latency, as a factor. */
  readonly p99Factor: number;
  /** Minimum number of calls for an evaluation. */
  readonly minimumCalls: number;
}

export const defaultThresholds: GuardThresholds = { errorRatePoints: 5, p99Factor: 2, minimumCalls: 20 };

/**
 * Smallest increase of the p99 latency that counts, in milliseconds, regardless of the factor, because the latency of
 * very fast endpoints varies a lot.
 */
const NOTICEABLE_MS = 50;

/**
 * Compares an endpoint's traffic before and after a change. Without traffic before, the error rate is compared with 0,
 * and latency is not compared.
 * @returns the reason why it is worse; null when it is not.
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

/** An endpoint that the guard compares. */
export interface GuardedEndpoint {
  /** Name of the endpoint in reasons. */
  readonly key: string;
  /** Traffic before the change, as a snapshot that does not change during the observation. */
  readonly before: TrafficWindow;
  /** Traffic since the change. */
  readonly after: TrafficWindow;
}

export interface GuardOptions {
  /** Duration for which the revision is monitored, in milliseconds. */
  readonly durationMs: number;
  readonly thresholds?: GuardThresholds;
  /** Returns the endpoints to compare; called for every check. */
  endpoints(): Iterable<GuardedEndpoint>;
  /** Called when endpoints perform worse; the reason names the first one and the number of further endpoints. No callback follows. */
  onWorse(reason: string): void;
  /** Called when the guard period has ended and no endpoint performed worse. */
  onPassed(): void;
  /** Called when the time is over and no endpoint had enough calls to be evaluated. @param calls total of all endpoints. */
  onUndecided(calls: number): void;
  /** Interval between checks. Default: 1000. */
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

/** State of the guard over a change; replaced, not modified, when it changes. */
export interface GuardState {
  /**
   * `undecided`: too few calls to decide; `superseded`: another change came first; `failed`: the change was worse and
   * could not be rolled back.
   */
  readonly state: 'watching' | 'passed' | 'undecided' | 'superseded' | 'rolled-back' | 'failed';
  /** The monitored revision. */
  readonly revision: number;
  /** The attempt that requested the guard. */
  readonly attempt: number;
  /** End of the watch, in ISO 8601. */
  readonly endsAt: string;
  /** Reason for the outcome; null while watching, and when the change has passed. */
  readonly reason: string | null;
  /** The revision that replaced the one rolled back; null without a rollback. */
  readonly rolledBackTo: number | null;
}
