import type { Clock } from '#contract';

/** The gateway's monotonic clock, which tests can move forward. Rate limits, caches that use this clock, and circuit breakers follow it. */
export class SandboxClock implements Clock {
  #aheadMs = 0;

  now(): number {
    return performance.now() + this.#aheadMs;
  }

  /** Moves the clock forward. */
  advance(ms: number): void {
    this.#aheadMs += ms;
  }
}
