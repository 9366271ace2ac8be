/** Messages of a second from which on a thread is ended. */
export const FLOOD = 20_000;
/** Messages that one answered request accounts for: its answer, and what was asked and said for it. */
const PER_ANSWER = 10;

/** The messages of a thread, by the second. However many requests a thread answers, their own messages are no flood. */
export class MessageRate {
  #count = 0;
  #since: number;

  /** @param now of a monotonic clock, in milliseconds. */
  constructor(now: number) {
    this.#since = now;
  }

  /** @param isAnswer the message answers a question of the gateway. @returns false for a flood. */
  add(now: number, isAnswer: boolean): boolean {
    if (now - this.#since >= 1000) {
      this.#since = now;
      this.#count = 0;
    }
    this.#count += isAnswer ? 1 - PER_ANSWER : 1;
    return this.#count < FLOOD;
  }
}
