import type { Call } from '#contract';
import { during } from './during.ts';

interface Work<T> {
  readonly result: Promise<T>;
  readonly end: AbortController;
  waiting: number;
}

/**
 * Work that concurrent calls with the same key share. A call that ends stops waiting; the work is aborted together with
 * the last call that waits for it.
 */
export class SharedWork<T> {
  readonly #pending = new Map<string, Work<T>>();

  /** Number of keys with work in progress. */
  get size(): number {
    return this.#pending.size;
  }

  /**
   * Joins the work in progress, or begins it.
   * @param begin must reject soon after its signal is aborted.
   * @throws the call's abort reason if the call ends first, otherwise the error of the work.
   */
  async join(key: string, call: Call, begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const work = this.#pending.get(key) ?? this.#begin(key, begin);
    work.waiting++;
    try {
      return await during(call, work.result);
    } finally {
      work.waiting--;
      if (work.waiting === 0) {
        this.#forget(key, work);
        work.end.abort();
      }
    }
  }

  #begin(key: string, begin: (signal: AbortSignal) => Promise<T>): Work<T> {
    const end = new AbortController();
    const work: Work<T> = { result: begin(end.signal), end, waiting: 0 };
    this.#pending.set(key, work);
    const forget = () => this.#forget(key, work);
    work.result.then(forget, forget);
    return work;
  }

  #forget(key: string, work: Work<T>): void {
    if (this.#pending.get(key) === work) this.#pending.delete(key);
  }
}
