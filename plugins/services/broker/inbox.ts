import type { Call, Cancellation } from '#contract';
import type { Delivery } from './message.ts';

interface Waiting<D> {
  readonly resolve: (delivery: D) => void;
  readonly cancellation: Cancellation | null;
}

/** Messages that wait for a request, and requests that wait for a message: the oldest of both come first. */
export class Inbox<D extends Delivery = Delivery> {
  readonly capacity: number;
  readonly #taken: () => void;
  #messages: D[] = [];
  readonly #waiting = new Set<Waiting<D>>();

  /** @param capacity messages that are kept. @param taken called when a message that was kept has been taken. */
  constructor(capacity: number, taken: () => void = () => {}) {
    this.capacity = capacity;
    this.#taken = taken;
  }

  /** Messages that wait. */
  get size(): number {
    return this.#messages.length;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Hands a message to whoever has waited longest, or keeps it. @returns the oldest message, dropped for want of room. */
  put(delivery: D): D | undefined {
    if (this.#hand(delivery)) return undefined;
    this.#messages.push(delivery);
    return this.#messages.length > this.capacity ? this.#messages.shift() : undefined;
  }

  /** The message that was taken last, by a request that could not use it, comes first again. */
  putBack(delivery: D): void {
    if (!this.#hand(delivery)) this.#messages.unshift(delivery);
  }

  /** The oldest message. Rejects with the reason of the call when that ends before there is one. */
  take(call: Call): D | Promise<D> {
    if (call.reason) return Promise.reject(call.reason);
    const delivery = this.#messages.shift();
    if (delivery) {
      this.#taken();
      return delivery;
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting<D> = {
        resolve,
        cancellation: call.onCancel((reason) => {
          this.#waiting.delete(waiting);
          reject(reason);
        }),
      };
      this.#waiting.add(waiting);
    });
  }

  #hand(delivery: D): boolean {
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting);
      waiting.cancellation?.off();
      waiting.resolve(delivery);
      return true;
    }
    return false;
  }

  /** Drops messages that are none of ours any more, such as those that the broker hands over again. */
  retain(isOurs: (delivery: D) => boolean): void {
    this.#messages = this.#messages.filter(isOurs);
  }

  /** Takes everything that waits for a request. */
  empty(): readonly D[] {
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }
}
