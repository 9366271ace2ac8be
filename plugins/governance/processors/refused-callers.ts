interface Refused<T> {
  /** Start of the window, in milliseconds since 1970, like its end. If the clock is set back to before the start, uses count in another window. */
  readonly since: number;
  readonly until: number;
  readonly value: T;
}

/** Callers that have exhausted their quota, each until its window ends. Beyond `most`, the oldest is forgotten. */
export class RefusedCallers<T> {
  readonly #most: number;
  readonly #callers = new Map<string, Refused<T>>();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#callers.size;
  }

  /** @param now milliseconds since 1970. @returns undefined for a caller that is not refused. */
  find(caller: string, now: number): Refused<T> | undefined {
    const entry = this.#callers.get(caller);
    if (!entry) return undefined;
    if (now >= entry.since && now < entry.until) return entry;
    this.#callers.delete(caller);
    return undefined;
  }

  add(caller: string, since: number, until: number, value: T): void {
    if (this.#callers.size >= this.#most) this.#callers.delete(this.#callers.keys().next().value!);
    this.#callers.set(caller, { since, until, value });
  }

  clear(): void {
    this.#callers.clear();
  }
}
