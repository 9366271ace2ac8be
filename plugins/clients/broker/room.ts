import type { Delivery } from './message.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** Capacity for messages that were received but not yet acknowledged: a number of messages, and 64 MiB in total. */
export class Room {
  readonly #capacity: number;
  #count = 0;
  #bytes = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get isFull(): boolean {
    return this.#count >= this.#capacity || this.#bytes >= MAX_BYTES;
  }

  /** Whether enough capacity is free to request more messages. */
  get isHalfEmpty(): boolean {
    return this.#count <= this.#capacity / 2 && this.#bytes <= MAX_BYTES / 2;
  }

  enter({ payload }: Pick<Delivery, 'payload'>): void {
    this.#count++;
    this.#bytes += payload.length;
  }

  leave({ payload }: Pick<Delivery, 'payload'>): void {
    this.#count--;
    this.#bytes -= payload.length;
  }
}
