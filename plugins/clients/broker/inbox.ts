import type { Call, Cancellation } from '#contract';
import type { Delivery } from './message.ts';

interface Waiting<D> {
  readonly resolve: (delivery: D) => void;
  readonly reject: (reason: Error) => void;
  readonly cancellation: Cancellation;
}

/** Messages that wait for a request, and requests that wait for a message: the oldest of both are matched first. */
export class Inbox<D = Delivery> {
  readonly #taken: (delivery: D) => void;
  #messages: D[] = [];
  readonly #waiting = new Set<Waiting<D>>();
  #closed: Error | null = null;

  /** @param taken called when a stored message has been taken. */
  constructor(taken: (delivery: D) => void = () => {}) {
    this.#taken = taken;
  }

  /** Number of waiting messages. */
  get size(): number {
    return this.#messages.length;
  }

  /** Number of waiting requests. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Passes a message to the request that has waited longest, or stores it. @returns the message if the inbox is closed: it will not be taken. */
  put(delivery: D): D | undefined {
    if (this.#closed) return delivery;
    if (!this.#hand(delivery)) this.#messages.push(delivery);
    return undefined;
  }

  /** Puts the last taken message back in front, because its request could not use it. @returns the message if the inbox is closed. */
  putBack(delivery: D): D | undefined {
    if (this.#closed) return delivery;
    if (!this.#hand(delivery)) this.#messages.unshift(delivery);
    return undefined;
  }

  /** Takes the oldest message. Rejects with the reason of the call or of `close` if that comes first. */
  take(call: Call): D | Promise<D> {
    const over = call.reason ?? this.#closed;
    if (over) return Promise.reject(over);
    const delivery = this.#messages.shift();
    if (delivery) {
      this.#taken(delivery);
      return delivery;
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting<D> = {
        resolve,
        reject,
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
      waiting.cancellation.off();
      waiting.resolve(delivery);
      return true;
    }
    return false;
  }

  /** Drops messages that no longer belong to the gateway, such as those that the broker redelivers. */
  retain(isOurs: (delivery: D) => boolean): void {
    this.#messages = this.#messages.filter(isOurs);
  }

  /** Removes the oldest message, to make room. */
  dropOldest(): D | undefined {
    return this.#messages.shift();
  }

  /** Removes all waiting messages. */
  empty(): readonly D[] {
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }

  /** Fails waiting and later requests with a reason. @returns all waiting messages. */
  close(reason: Error): readonly D[] {
    this.#closed = reason;
    for (const { cancellation, reject } of this.#waiting) {
      cancellation.off();
      reject(reason);
    }
    this.#waiting.clear();
    return this.empty();
  }
}
