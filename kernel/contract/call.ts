import { type Cancellation, Waiting } from './cancellation.ts';
import { CancelledError, DeadlineError } from './errors.ts';
import { type Log, silentLog } from './log.ts';
import type { Slot } from './slot.ts';
import { timerMs } from './timer.ts';

/** Outcome of a call, for its observers. */
export interface Outcome {
  /** Status sent to the client; 499 if it disconnected before. */
  readonly status: number;
  /** True if the response was sent completely. */
  readonly completed: boolean;
  /** Reason of the abort; null if the call was not aborted. */
  readonly reason: Error | null;
}

/** Services that the gateway provides to a call. */
export interface CallHost {
  /** Runs work in the background, and keeps the configuration of the call in use until it has finished. */
  background(work: Promise<unknown>): void;
}

/** Tracks the position of a call in its pipe, to report where its deadline expired. */
export interface Trail {
  /** Called before any listener when the deadline of the call, or of a part of it, has expired. */
  expired(part: Call): void;
}

/** A value that is visible only in one part of a call, and in the parts within it. */
interface Frame {
  readonly name: string;
  readonly value: unknown;
  readonly outer: Frame | null;
}

/** The call that a part belongs to. */
interface Origin {
  readonly whole: Call;
  readonly frame: Frame | null;
  /** Whether the part shares deadline and cancellation with the call that it belongs to, and only adds a value. */
  readonly adds: boolean;
}

/**
 * A client request in progress, or a part of it with a shorter deadline. Holds its deadline, cancellation, log and the
 * values that plugins store for each other.
 */
export class Call {
  log: Log;
  /** The call that holds the deadline and the cancellation: this one, unless it only adds a value to another call. */
  readonly #own: Call;
  readonly #root: Call;
  readonly #outer: Call | null;
  readonly #frame: Frame | null;
  readonly #host: CallHost | null;
  #deadline = Number.POSITIVE_INFINITY;
  #values: Map<string, unknown> | null = null;
  #first: Waiting | null = null;
  #last: Waiting | null = null;
  #reason: Error | null = null;
  #controller: AbortController | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isFinished = false;
  #waiting: Waiting | null = null;
  #onEnd: ((outcome: Outcome) => void)[] | null = null;
  #trail: Trail | null = null;

  /** @param timeoutMs time after which the call is canceled with `DeadlineError`; infinite disables the deadline. */
  constructor(
    log: Log = silentLog,
    timeoutMs = Number.POSITIVE_INFINITY,
    host: CallHost | null = null,
    origin: Origin | null = null,
  ) {
    this.log = log;
    this.#host = host;
    this.#own = origin?.adds ? origin.whole.#own : this;
    this.#root = origin ? origin.whole.#root : this;
    this.#outer = origin ? origin.whole : null;
    this.#frame = origin ? origin.frame : null;
    if (origin) this.#deadline = origin.whole.#own.#deadline;
    if (timeoutMs !== Number.POSITIVE_INFINITY) this.limit(timeoutMs);
  }

  /** The call that this one is a part of; null for a whole call. */
  get outer(): Call | null {
    return this.#outer;
  }

  /** Services of the gateway for the call; null if no gateway created the call. */
  get host(): CallHost | null {
    return this.#host;
  }

  /** Deadline in milliseconds of `performance.now()`; infinite without one. */
  get deadline(): number {
    return this.#own.#deadline;
  }

  /** Milliseconds until the deadline; infinite without one. */
  get remainingMs(): number {
    return this.#own.#deadline - performance.now();
  }

  /** Reason of the abort; null while the call is running. */
  get reason(): Error | null {
    const own = this.#own;
    if (own.#isOver) own.cancel(new DeadlineError());
    return own.#reason;
  }

  /** True if the deadline has passed but its timer has not fired yet. */
  get #isOver(): boolean {
    if (this.#reason || this.#timer || this.#isFinished || this.#deadline === Number.POSITIVE_INFINITY) return false;
    return performance.now() >= this.#deadline;
  }

  /** The cancellation as an `AbortSignal`, created on first use. */
  get signal(): AbortSignal {
    const own = this.#own;
    if (!own.#controller) {
      own.#controller = new AbortController();
      if (own.#reason) own.#controller.abort(own.#reason);
      else own.#watch();
    }
    return own.#controller.signal;
  }

  /** Sets the log and the timeout of the endpoint; called when the endpoint is known. */
  enter(log: Log, timeoutMs: number): void {
    this.log = log;
    this.limit(timeoutMs);
  }

  /** Shortens the deadline; a later deadline is ignored. */
  limit(timeoutMs: number): void {
    const own = this.#own;
    const deadline = performance.now() + timeoutMs;
    if (!(deadline < own.#deadline) || own.#reason) return;
    own.#deadline = deadline;
    if (own.#timer) clearTimeout(own.#timer);
    own.#timer = null;
    if (own.#first || own.#controller) own.#watch();
  }

  /** Starts the timer of the deadline when the first listener is added: calls that finish synchronously need none. */
  #watch(): void {
    if (this.#timer || this.#isFinished || this.#deadline === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(expire, Math.max(timerMs(this.#deadline - performance.now()), 0), this);
  }

  /** Calls the listener when the call is aborted, or at once if it already is. Cheaper than `signal`. */
  onCancel(listener: (reason: Error) => void): Cancellation {
    const own = this.#own;
    if (own.#reason) {
      listener(own.#reason);
      return left;
    }
    return own.#join(listener);
  }

  #join(waits: Call | ((reason: Error) => void)): Waiting {
    const waiting = new Waiting(this, waits);
    waiting.previous = this.#last;
    if (this.#last) this.#last.next = waiting;
    else this.#first = waiting;
    this.#last = waiting;
    this.#watch();
    return waiting;
  }

  /** @internal Removes a listener from the list; used by `off` of the returned `Cancellation`. */
  unlink(waiting: Waiting): void {
    if (waiting.previous) waiting.previous.next = waiting.next;
    else this.#first = waiting.next;
    if (waiting.next) waiting.next.previous = waiting.previous;
    else this.#last = waiting.previous;
  }

  /** Aborts the call and every call forked from it. */
  cancel(reason: Error = new CancelledError()): void {
    const own = this.#own;
    if (own.#reason) return;
    own.#reason = reason;
    if (own.#root.#trail && reason instanceof DeadlineError) own.#root.#trail.expired(own);
    own.finish();
    own.#controller?.abort(reason);
    while (own.#first) {
      const waiting: Waiting = own.#first;
      own.unlink(waiting);
      waiting.cancelled(reason);
    }
  }

  /** Stops the timer of the deadline: the call has been answered. */
  finish(): void {
    const own = this.#own;
    if (own.#timer) clearTimeout(own.#timer);
    own.#timer = null;
    own.#isFinished = true;
    own.#waiting?.off();
    own.#waiting = null;
  }

  /**
   * Creates a part of this call. It is canceled together with this call, on its own, or after `timeoutMs`. Values are
   * shared.
   */
  fork(timeoutMs = Number.POSITIVE_INFINITY): Call {
    const own = this.#own;
    const fork = new Call(this.log, timeoutMs, this.#host, { whole: this, frame: this.#frame, adds: false });
    if (own.#reason) fork.cancel(own.#reason);
    else fork.#waiting = own.#join(fork);
    return fork;
  }

  /**
   * The same call with an additional value that is visible only through the returned call, for example the span or
   * identity of one of several backends. Deadline and cancellation are those of this call.
   */
  with<T>(slot: Slot<T>, value: T): Call {
    const frame = { name: slot.name, value, outer: this.#frame };
    return new Call(this.log, Number.POSITIVE_INFINITY, this.#host, { whole: this, frame, adds: true });
  }

  /** @internal Trail of the whole call; null if it is not tracked. */
  get trail(): Trail | null {
    return this.#root.#trail;
  }

  set trail(trail: Trail | null) {
    this.#root.#trail = trail;
  }

  /** Value of a slot: the nearest one added by `with`, otherwise the one stored by `set`; undefined if unset. */
  get<T>(slot: Slot<T>): T | undefined {
    for (let frame = this.#frame; frame; frame = frame.outer) if (frame.name === slot.name) return frame.value as T;
    return this.#root.#values?.get(slot.name) as T | undefined;
  }

  /** Stores a value for everything that belongs to the same request. */
  set<T>(slot: Slot<T>, value: T): void {
    this.#root.#values ??= new Map();
    this.#root.#values.set(slot.name, value);
  }

  /**
   * Calls the listener once, after the response has ended or the client has disconnected. Its exceptions are logged.
   */
  onEnd(listener: (outcome: Outcome) => void): void {
    this.#root.#onEnd ??= [];
    this.#root.#onEnd.push(listener);
  }

  /** Reports the outcome to all listeners. Only the owner of a call ends it. */
  end(outcome: Outcome): void {
    const listeners = this.#root.#onEnd;
    this.#root.#onEnd = null;
    if (!listeners) return;
    for (const listener of listeners) {
      try {
        listener(outcome);
      } catch (error) {
        this.#failed(error);
      }
    }
  }

  /**
   * Work that continues after the response. Failures are logged, and the configuration is kept until the work has
   * finished or the drain time is over.
   */
  background(work: Promise<unknown>): void {
    const watched = work.catch((error: unknown) => this.#failed(error));
    this.#host?.background(watched);
  }

  #failed(error: unknown): void {
    this.log.error(() => `after the response: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

const left: Cancellation = { off() {} };

function expire(call: Call): void {
  call.cancel(new DeadlineError());
}
