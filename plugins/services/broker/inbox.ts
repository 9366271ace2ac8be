import type { Call, Cancellation } from '#contract';
import type { Delivery } from './message.ts';

interface Waiting<D> {
  readonly resolve: (delivery: D) => void;
  readonly reject: (reason: Error) => void;
  readonly cancellation: Cancellation;
}

/** Messages that wait for a request, and requests that wait for a message: the oldest of both come first. */
export class Inbox<D = Delivery> {
  readonly #taken: (delivery: D) => void;
  #messages: D[] = [];
  readonly #waiting = new Set<Waiting<D>>();
  #closed: Error | null = null;

  /** @param taken called when a message that was kept has been taken. */
  constructor(taken: (delivery: D) => void = () => {}) {
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

  /** Hands a message to whoever has waited longest, or keeps it. @returns it once it is closed: nobody will take it. */
  put(delivery: D): D | undefined {
    if (this.#closed) return delivery;
    if (!this.#hand(delivery)) this.#messages.push(delivery);
    return undefined;
  }

  /** The message that was taken last, by a request that could not use it, comes first again. @returns it once it is closed. */
  putBack(delivery: D): D | undefined {
    if (this.#closed) return delivery;
    if (!this.#hand(delivery)) this.#messages.unshift(delivery);
    return undefined;
  }

  /** The oldest message. Rejects with the reason of the call, or that of `close`, when that comes before there is one. */
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

  /** Drops messages that are none of ours any more, such as those that the broker hands over again. */
  retain(isOurs: (delivery: D) => boolean): void {
    this.#messages = this.#messages.filter(isOurs);
  }

  /** Takes the message that has waited longest, for want of room. */
  dropOldest(): D | undefined {
    return this.#messages.shift();
  }

  /** Takes everything that waits for a request. */
  empty(): readonly D[] {
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }

  /** Requests that wait fail, and whoever comes later, with a reason. @returns everything that waits for a request. */
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
