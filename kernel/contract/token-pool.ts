/**
 * Tokens of which there is one supply for all workers, and how they are taken: the parts of a limit for the gateway as a
 * whole. Everything here runs where the supply lives, with the settings of the configuration that asks, and must not wait.
 */
export interface TokenPool<T> {
  open(): T;
  /**
   * Takes one token.
   * @param of whose: one pool may hold the tokens of many.
   * @returns 0 when there was one, else the milliseconds until there is.
   */
  take(pool: T, of: string): number;
  /** Takes at most so many more, right after a `take` that got one. @returns how many. */
  takeMore(pool: T, most: number, of: string): number;
  /** Puts back tokens that a worker has not used. */
  giveBack(pool: T, tokens: number, of: string): void;
  /** The tokens a worker takes at once, at least 1: so many may lie unused in each for a moment. */
  readonly batch: number;
  /** Called when no configuration holds the pool any more. */
  close?(pool: T): void | Promise<void>;
}

/**
 * Takes a token. @param of as of `TokenPool.take`; default the empty text.
 * @returns 0 when there was one, else the milliseconds until there is; a promise in a worker that has to ask for it.
 */
export type TakeToken = (of?: string) => number | Promise<number>;
