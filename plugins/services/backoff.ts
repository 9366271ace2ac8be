import { type Schema, timerMs } from '#contract';

/** The pauses before attempts to connect that a configuration may choose from. */
export const backoffStrategies = ['linear', 'linear-jitter', 'exponential', 'exponential-jitter', 'fallback'] as const;

export type BackoffStrategy = (typeof backoffStrategies)[number];

/** The setting of components that connect again by themselves. */
export const backoffField = {
  type: 'string',
  enum: backoffStrategies,
  description:
    'Pauses between connection attempts. `linear`: as many seconds as attempts so far. `exponential`: 2 to the power of that number, at most 60. The `-jitter` variants add or subtract up to a third. `fallback`: always one second.',
  default: 'fallback',
} as const satisfies Schema;

/** Longest pause of the exponential strategies without their jitter, in seconds. */
const LONGEST_SECONDS = 60;

/** What jitter adds or takes at most. */
const JITTER = 0.33;

const seconds: { readonly [S in BackoffStrategy]: (attempt: number, random: () => number) => number } = {
  linear: (attempt) => attempt,
  'linear-jitter': (attempt, random) => jittered(attempt, random),
  exponential: (attempt) => exponential(attempt),
  'exponential-jitter': (attempt, random) => jittered(exponential(attempt), random),
  fallback: () => 1,
};

/**
 * How long to wait before an attempt to connect, in milliseconds.
 * @param attempt in a row, from 0. @param random from 0 up to 1, not included.
 */
export function backoffMs(strategy: BackoffStrategy, attempt: number, random: () => number = Math.random): number {
  return Math.round(seconds[strategy](attempt, random) * 1000);
}

/** Waits before an attempt. Resolves at once, too, when the signal is aborted: look at it afterwards. Keeps no process alive. */
export function backOff(strategy: BackoffStrategy, attempt: number, signal: AbortSignal): Promise<void> {
  const ms = backoffMs(strategy, attempt);
  if (ms === 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', settle);
      resolve();
    };
    const timer = setTimeout(settle, timerMs(ms)).unref();
    signal.addEventListener('abort', settle, { once: true });
  });
}

function exponential(attempt: number): number {
  return Math.min(2 ** attempt, LONGEST_SECONDS);
}

/** Never below a millisecond: attempts of several gateways are not to meet. */
function jittered(value: number, random: () => number): number {
  return Math.max(value * (1 + (random() * 2 - 1) * JITTER), 0.001);
}
