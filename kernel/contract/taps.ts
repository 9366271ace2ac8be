/**
 * Observes the bytes of a stream as its reader receives them, and its end. Cannot slow or break the stream: a tap that
 * throws receives its own error by `fail` and no further calls.
 */
export interface ByteTap {
  write(chunk: Uint8Array): void;
  /** The reader has received all bytes. */
  end(): void;
  /** The stream was aborted. */
  fail(error: Error): void;
  /** The reader discarded the rest. Default: `fail`. */
  cancel?(reason: Error): void;
}

/** The taps of one stream. Each one is notified of the end once. */
export class Taps {
  #taps: ByteTap[] = [];

  add(tap: ByteTap): void {
    this.#taps.push(tap);
  }

  write(chunk: Uint8Array): void {
    this.#each((tap) => tap.write(chunk));
  }

  /** @param error reason of the abort; null for a complete stream. */
  conclude(error: Error | null): void {
    this.#each((tap) => (error ? tap.fail(error) : tap.end()));
    this.#taps = [];
  }

  cancel(reason: Error): void {
    this.#each((tap) => (tap.cancel ? tap.cancel(reason) : tap.fail(reason)));
    this.#taps = [];
  }

  #each(notify: (tap: ByteTap) => void): void {
    for (const tap of this.#taps) {
      try {
        notify(tap);
      } catch (error) {
        this.#taps = this.#taps.filter((other) => other !== tap);
        dismiss(tap, error);
      }
    }
  }
}

/** Ignores a tap that throws while it is notified of its own error. */
function dismiss(tap: ByteTap, error: unknown): void {
  try {
    tap.fail(error instanceof Error ? error : new Error(String(error)));
  } catch {}
}
