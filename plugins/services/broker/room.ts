import type { Delivery } from './message.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** Room for messages that were received and are not done: so many, and 64 MiB of them. */
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

  /** More may be asked for. */
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
