/** A registration for a cancellation; `off` removes it. */
export interface Cancellation {
  /** Removes the registration. Has no effect after the call was canceled or the registration was removed. */
  off(): void;
}

/** An entry of a linked list: a cancellation listener, or a part of a call. */
export class Waiting implements Cancellation {
  previous: Waiting | null = null;
  next: Waiting | null = null;
  readonly #list: { unlink(waiting: Waiting): void };
  readonly #waits: { cancel(reason: Error): void } | ((reason: Error) => void);
  #listed = true;

  constructor(
    list: { unlink(waiting: Waiting): void },
    waits: { cancel(reason: Error): void } | ((reason: Error) => void),
  ) {
    this.#list = list;
    this.#waits = waits;
  }

  cancelled(reason: Error): void {
    this.#listed = false;
    const waits = this.#waits;
    if (typeof waits === 'function') waits(reason);
    else waits.cancel(reason);
  }

  off(): void {
    if (!this.#listed) return;
    this.#listed = false;
    this.#list.unlink(this);
  }
}
