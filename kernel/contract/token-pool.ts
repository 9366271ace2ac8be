/**
 * A supply of tokens shared by all workers: the implementation of a limit for the gateway as a whole. All functions run
 * in the process that owns the supply, with the settings of the requesting configuration, and must be synchronous.
 */
export interface TokenPool<T> {
  open(): T;
  /**
   * Takes one token.
   * @param of identity of the consumer: a pool can hold the tokens of many.
   * @returns 0 if a token was available, otherwise the milliseconds until one is.
   */
  take(pool: T, of: string): number;
  /** Takes up to `most` further tokens, directly after a successful `take`. @returns the number taken. */
  takeMore(pool: T, most: number, of: string): number;
  /** Returns tokens that a worker has not used. */
  giveBack(pool: T, tokens: number, of: string): void;
  /**
   * Number of tokens that a worker takes at once, at least 1. Up to this many can be unused in each worker for a short
   * time.
   */
  readonly batch: number;
  /** Called when no configuration holds the pool anymore. */
  close?(pool: T): void | Promise<void>;
}

/**
 * Takes a token. @param of as in `TokenPool.take`; default: the empty string.
 * @returns 0 if a token was available, otherwise the milliseconds until one is; a promise in a worker that has to
 * request it.
 */
export type TakeToken = (of?: string) => number | Promise<number>;
