/** Number of messages per second at which a thread is ended. */
export const FLOOD = 20_000;
/** Number of messages that a thread may send for each request that it answers: the response, and messages for the services that it uses. */
const PER_ANSWER = 10;

/** Counts the messages of a thread, per second. Messages that belong to answered requests never count as a flood. */
export class MessageRate {
  #count = 0;
  #since: number;

  /** @param now monotonic clock, in milliseconds. */
  constructor(now: number) {
    this.#since = now;
  }

  /**
   * @param isAnswer whether the message responds to a request of the gateway. @returns false if the messages count as a
   * flood.
   */
  add(now: number, isAnswer: boolean): boolean {
    if (now - this.#since >= 1000) {
      this.#since = now;
      this.#count = 0;
    }
    this.#count += isAnswer ? 1 - PER_ANSWER : 1;
    return this.#count < FLOOD;
  }
}
