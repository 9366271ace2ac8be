/**
 * Sees the bytes of a stream beside its reader, each as the reader gets it, and how the stream ends. It cannot slow or
 * break the stream: a tap that throws is told its own error by `fail` and sees no more.
 */
export interface ByteTap {
  write(chunk: Uint8Array): void;
  /** The reader has every byte. */
  end(): void;
  /** The bytes broke off. */
  fail(error: Error): void;
  /** The reader wanted no more. Default: `fail`. */
  cancel?(reason: Error): void;
}

/** The taps of one stream. Each of them is told the end once. */
export class Taps {
  #taps: ByteTap[] = [];

  add(tap: ByteTap): void {
    this.#taps.push(tap);
  }

  write(chunk: Uint8Array): void {
    this.#each((tap) => tap.write(chunk));
  }

  /** @param error what the bytes broke off with; null when they came to their end. */
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

/** A tap that fails at being told so has nobody left to tell. */
function dismiss(tap: ByteTap, error: unknown): void {
  try {
    tap.fail(error instanceof Error ? error : new Error(String(error)));
  } catch {}
}
