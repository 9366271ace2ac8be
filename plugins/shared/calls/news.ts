/** Notifies callers that wait for something that another request or process is finding out. */
export class News {
  /** Number of notifications so far. */
  count = 0;
  readonly #waiting = new Set<() => void>();

  /** Notifies all callers that wait. */
  spread(): void {
    this.count++;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Resolves with the next notification, after `mostMs` milliseconds, or when the signal is aborted. */
  next(mostMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, mostMs);
      signal.addEventListener('abort', wake, { once: true });
      this.#waiting.add(wake);
      if (signal.aborted) wake();
    });
  }
}
