import { CancelledError, DeadlineError } from './errors.ts';
import { type Log, silentLog } from './log.ts';
import type { Slot } from './slot.ts';

type Listener = (reason: Error) => void;

/**
 * One client request on its way, or a part of it with a shorter deadline: its deadline, its cancellation, its log and
 * the values plugins leave for one another.
 */
export class Call {
  readonly log: Log;
  /** When the call is given up, in milliseconds of `performance.now()`; infinite for none. */
  readonly deadline: number;
  #slots: Map<Slot<unknown>, unknown> | null = null;
  #root: Call;
  #listeners: Set<Listener> | null = null;
  #reason: Error | null = null;
  #controller: AbortController | null = null;
  #timer: NodeJS.Timeout | null = null;
  #leave: (() => void) | null = null;

  /** @param timeoutMs after which the call is cancelled with `DeadlineError`; infinite for none. */
  constructor(log: Log = silentLog, timeoutMs = Number.POSITIVE_INFINITY, parent: Call | null = null) {
    this.log = log;
    this.#root = parent ? parent.#root : this;
    const parentDeadline = parent ? parent.deadline : Number.POSITIVE_INFINITY;
    const own = Number.isFinite(timeoutMs) ? performance.now() + timeoutMs : Number.POSITIVE_INFINITY;
    this.deadline = Math.min(own, parentDeadline);
    if (own < parentDeadline) {
      this.#timer = setTimeout(expire, Math.min(Math.max(timeoutMs, 0), MAX_TIMER_MS), this);
    }
    if (parent) {
      if (parent.#reason) this.#reason = parent.#reason;
      else this.#leave = parent.onCancel((reason) => this.cancel(reason));
    }
  }

  /** Why the call was given up; null while it goes on. */
  get reason(): Error | null {
    return this.#reason;
  }

  /** The cancellation as a standard signal, made at first use. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /**
   * Calls the listener when the call is given up, at once when it already is. Cheaper than `signal`.
   * @returns a function that takes the listener off again.
   */
  onCancel(listener: Listener): () => void {
    if (this.#reason) {
      listener(this.#reason);
      return nothing;
    }
    this.#listeners ??= new Set();
    const listeners = this.#listeners;
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Gives the call up, and every call forked from it. */
  cancel(reason: Error = new CancelledError()): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.finish();
    this.#controller?.abort(reason);
    const listeners = this.#listeners;
    this.#listeners = null;
    if (listeners) for (const listener of listeners) listener(reason);
  }

  /** Ends the watch over the deadline: the call is answered. */
  finish(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#leave?.();
    this.#leave = null;
  }

  /** A part of this call: cancelled with it, or alone, or after `timeoutMs`. Slots are shared. */
  fork(timeoutMs = Number.POSITIVE_INFINITY): Call {
    return new Call(this.log, timeoutMs, this);
  }

  /** Milliseconds left until the deadline; infinite for none. */
  get remainingMs(): number {
    return this.deadline - performance.now();
  }

  get<T>(slot: Slot<T>): T | undefined {
    return this.#root.#slots?.get(slot) as T | undefined;
  }

  set<T>(slot: Slot<T>, value: T): void {
    this.#root.#slots ??= new Map();
    this.#root.#slots.set(slot, value);
  }
}

/** The longest wait of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function expire(call: Call): void {
  call.cancel(new DeadlineError());
}

function nothing(): void {}
