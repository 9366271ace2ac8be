import { type Schema, timerMs } from '#contract';

/** Backoff strategies that a configuration can choose for connection attempts. */
export const backoffStrategies = ['linear', 'linear-jitter', 'exponential', 'exponential-jitter', 'fallback'] as const;

export type BackoffStrategy = (typeof backoffStrategies)[number];

/** Schema field of components that reconnect automatically. */
export const backoffField = {
  type: 'string',
  enum: backoffStrategies,
  description:
    'Backoff strategy between connection attempts. `linear`: the pause in seconds is the number of attempts so far. `exponential`: the pause is 2 to the power of that number. Both are limited to 60 seconds. The `-jitter` variants add or subtract up to a third. `fallback`: the pause is always one second.',
  default: 'fallback',
} as const satisfies Schema;

/** Longest pause before jitter, in seconds: a server that is reachable again is noticed within this time. */
const LONGEST_SECONDS = 60;

/** Largest fraction that jitter adds or subtracts. */
const JITTER = 0.33;

const seconds: { readonly [S in BackoffStrategy]: (attempt: number, random: () => number) => number } = {
  linear,
  'linear-jitter': (attempt, random) => jittered(linear(attempt), random),
  exponential,
  'exponential-jitter': (attempt, random) => jittered(exponential(attempt), random),
  fallback: () => 1,
};

/**
 * Computes the pause before a connection attempt, in milliseconds.
 * @param attempt number of consecutive attempts so far. @param random from 0 up to 1, exclusive.
 */
export function backoffMs(strategy: BackoffStrategy, attempt: number, random: () => number = Math.random): number {
  return Math.round(seconds[strategy](attempt, random) * 1000);
}

/** Waits before an attempt. Also resolves immediately when the signal is aborted: check it afterwards. Does not keep the process alive. */
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

function linear(attempt: number): number {
  return Math.min(attempt, LONGEST_SECONDS);
}

function exponential(attempt: number): number {
  return Math.min(2 ** attempt, LONGEST_SECONDS);
}

/** Adds jitter, which spreads the attempts of several gateways. Returns at least 1 millisecond. */
function jittered(value: number, random: () => number): number {
  return Math.max(value * (1 + (random() * 2 - 1) * JITTER), 0.001);
}
