import type { Clock } from '#contract';

/** Time of a stopped clock before it is moved, in milliseconds: the same in all sandboxes. */
const STOPPED_MS = 1_000_000;

/** The gateway's monotonic clock, which tests can move forward. Rate limits, caches that use this clock, and circuit breakers follow it. */
export class SandboxClock implements Clock {
  #aheadMs = 0;
  readonly #isStopped: boolean;

  /** @param isStopped whether the clock moves only when a test moves it. */
  constructor(isStopped = false) {
    this.#isStopped = isStopped;
  }

  now(): number {
    return (this.#isStopped ? STOPPED_MS : performance.now()) + this.#aheadMs;
  }

  /** Moves the clock forward. */
  advance(ms: number): void {
    this.#aheadMs += ms;
  }
}
