/** News of something that another request or another process is finding out, for those who wait for it. */
export class News {
  /** How much of it there has been. */
  count = 0;
  readonly #waiting = new Set<() => void>();

  /** There is some. */
  spread(): void {
    this.count++;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Resolves with the next, or when none can be expected any more: after so many milliseconds, and with the signal. */
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
