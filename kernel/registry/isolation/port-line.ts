import type { MessagePort } from 'node:worker_threads';
import type { Line } from '#contract';
import { receiveError, sendError } from './sent-error.ts';

/** What a message is, its first element. */
const ASK = 0;
const SAY = 1;
const ANSWER = 2;
const FAILURE = 3;

/** Questions that one side may owe an answer. */
const MOST_PENDING = 10_000;

/** Answers what the other side asks of a place. */
export type ReceiveAt = (place: number, operation: string, value: unknown) => unknown;

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** One end of a line between two threads. Whatever comes in, it never throws: the other end may be anybody's. */
export class PortLine {
  /** Questions of the other side that are being answered. */
  serving = 0;
  /** Called when `serving` has become 0, or more than that. */
  onServing: () => void = () => {};
  readonly #post: (message: unknown) => void;
  readonly #receive: ReceiveAt;
  readonly #pending = new Map<number, Pending>();
  #next = 0;
  #closed: Error | null = null;

  constructor(port: MessagePort, receive: ReceiveAt) {
    // Kept: who shares the thread may change what all ports have.
    this.#post = port.postMessage.bind(port);
    this.#receive = receive;
  }

  /** Questions that the other side has not answered. */
  get pending(): number {
    return this.#pending.size;
  }

  /** The line of one place. */
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
        throw new Error(`the other thread has ${MOST_PENDING} unanswered messages`);
      const id = this.#next++;
      this.#post([ASK, id, place, operation, value]);
      this.#pending.set(id, { resolve, reject });
    });
  }

  /** Nobody hears of what cannot be sent. */
  #send(message: unknown): void {
    if (this.#closed) return;
    try {
      this.#post(message);
    } catch {}
  }

  /** A message of the other side. */
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
      this.#send([FAILURE, id, sendError(new Error('too many questions at once'))]);
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

  /** Nothing more comes: what is owed fails. */
  close(reason: Error): void {
    this.#closed ??= reason;
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }
}
