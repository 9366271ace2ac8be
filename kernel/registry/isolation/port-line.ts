import type { MessagePort } from 'node:worker_threads';
import type { Line } from '#contract';
import { receiveError, sendError } from './sent-error.ts';

/** Type of a message, its first element. */
const ASK = 0;
const SAY = 1;
const ANSWER = 2;
const FAILURE = 3;

/** Maximum number of unanswered requests per side. */
const MOST_PENDING = 10_000;

/** Handles requests of the other thread for one endpoint, backend or service that configures the plugin. */
export type ReceiveAt = (place: number, operation: string, value: unknown) => unknown;

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * One end of a message channel ("line") between two threads. It never throws, regardless of its input, because the
 * other end is not trusted.
 */
export class PortLine {
  /** Number of requests of the other thread in progress. */
  serving = 0;
  /** Called when `serving` becomes 0, and when it becomes greater than 0. */
  onServing: () => void = () => {};
  readonly #post: (message: unknown) => void;
  readonly #receive: ReceiveAt;
  readonly #pending = new Map<number, Pending>();
  #next = 0;
  #closed: Error | null = null;

  constructor(port: MessagePort, receive: ReceiveAt) {
    // `postMessage` is bound once, because other code in the thread may change the prototype of all ports.
    this.#post = port.postMessage.bind(port);
    this.#receive = receive;
  }

  /** Number of requests that the other thread has not answered. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Returns a channel for the messages of one endpoint, backend or service that configures the plugin. */
  at(place: number): Line {
    return {
      ask: (operation, value) => this.#ask(place, operation, value),
      say: (operation, value) => this.#send([SAY, 0, place, operation, value]),
    };
  }

  #ask(place: number, operation: string, value: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw this.#closed;
      if (this.#pending.size >= MOST_PENDING)
        throw new Error(`the other thread has not answered ${MOST_PENDING} messages`);
      const id = this.#next++;
      this.#post([ASK, id, place, operation, value]);
      this.#pending.set(id, { resolve, reject });
    });
  }

  /** Messages that cannot be sent are dropped silently. */
  #send(message: unknown): void {
    if (this.#closed) return;
    try {
      this.#post(message);
    } catch {}
  }

  /** Handles a message of the other thread. */
  readonly accept = (message: unknown): void => {
    if (!Array.isArray(message)) return;
    const [kind, id, place, operation, value] = message as readonly unknown[];
    if (typeof id !== 'number') return;
    if (kind === ANSWER || kind === FAILURE) {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (kind === ANSWER) pending?.resolve(place);
      else pending?.reject(receiveError(place));
      return;
    }
    if (typeof place !== 'number' || typeof operation !== 'string') return;
    if (kind === ASK) void this.#answer(id, place, operation, value);
    else if (kind === SAY) this.#hear(place, operation, value);
  };

  #hear(place: number, operation: string, value: unknown): void {
    try {
      const result = this.#receive(place, operation, value);
      if (result instanceof Promise) result.catch(() => {});
    } catch {}
  }

  async #answer(id: number, place: number, operation: string, value: unknown): Promise<void> {
    if (this.serving >= MOST_PENDING) {
      this.#send([FAILURE, id, sendError(new Error('too many pending calls'))]);
      return;
    }
    this.serving += 1;
    if (this.serving === 1) this.onServing();
    try {
      const answer = await this.#receive(place, operation, value);
      if (!this.#closed) this.#post([ANSWER, id, answer]);
    } catch (error) {
      this.#send([FAILURE, id, sendError(error)]);
    } finally {
      this.serving -= 1;
      if (this.serving === 0) this.onServing();
    }
  }

  /** Closes the line: pending requests fail. */
  close(reason: Error): void {
    this.#closed ??= reason;
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }
}
