/** Classes in which answers are counted: `none` is no answer at all, 499 a client that left before it was answered. */
export const statusClasses = ['none', '1xx', '2xx', '3xx', '4xx', '5xx', '499'] as const;

const CLIENT_LEFT = 499;

/** How many answers there were of each of `statusClasses`. */
export class StatusCounts {
  #counts: number[] | null = null;
  #told: readonly number[] = none;

  /** @param status 0 for no answer. */
  record(status: number): void {
    this.#counts ??= [...none];
    this.#counts[status === CLIENT_LEFT ? statusClasses.length - 1 : Math.trunc(status / 100)]!++;
  }

  /** Up to now, in the order of `statusClasses`. */
  snapshot(): readonly number[] {
    return this.#counts ? [...this.#counts] : none;
  }

  /** Those since the last time it was asked. For one asker only. */
  takeDelta(): readonly number[] {
    const now = this.snapshot();
    const delta = now.map((count, at) => count - this.#told[at]!);
    this.#told = now;
    return delta;
  }

  /** Adds what another process has counted. */
  merge(delta: readonly number[]): void {
    this.#counts ??= [...none];
    for (const [at, count] of delta.entries()) this.#counts[at]! += count;
  }
}

const none: readonly number[] = statusClasses.map(() => 0);
