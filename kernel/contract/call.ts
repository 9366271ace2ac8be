import { type Cancellation, Waiting } from './cancellation.ts';
import { CancelledError, DeadlineError } from './errors.ts';
import { type Log, silentLog } from './log.ts';
import type { Slot } from './slot.ts';
import { timerMs } from './timer.ts';

/** How a call ended, for those who watch it. */
export interface Outcome {
  /** The status the client was given; 499 when it left before there was one. */
  readonly status: number;
  /** The response was written to its end. */
  readonly completed: boolean;
  /** Why the call was aborted; null when it was not. */
  readonly reason: Error | null;
}

/** What a call can ask of the gateway it belongs to. */
export interface CallHost {
  /** Keeps the configuration of the call until the work has ended. */
  background(work: Promise<unknown>): void;
}

/** Follows where a call is, for whoever has to tell when its time is over. */
export interface Trail {
  /** The deadline of the call, or of this part of it, has passed; nobody has been told yet. */
  expired(part: Call): void;
}

/** A value that only a part of a call sees, and those around it. */
interface Frame {
  readonly name: string;
  readonly value: unknown;
  readonly outer: Frame | null;
}

/** What a part of a call is made from. */
interface Origin {
  readonly whole: Call;
  readonly frame: Frame | null;
  /** The part has no deadline and no cancellation of its own. */
  readonly adds: boolean;
}

/**
 * One client request on its way, or a part of it with a shorter deadline: its deadline, its cancellation, its log and
 * the values plugins leave for one another.
 */
export class Call {
  log: Log;
  /** The call that is cancelled and has the deadline: this one, unless it only adds a value. */
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

  /** @param timeoutMs after which the call is cancelled with `DeadlineError`; infinite for none. */
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

  /** The call that this is a part of; null for a whole one. */
  get outer(): Call | null {
    return this.#outer;
  }

  /** The gateway's side of the call; null for one that was made elsewhere. */
  get host(): CallHost | null {
    return this.#host;
  }

  /** When the call is aborted, in milliseconds of `performance.now()`; infinite for none. */
  get deadline(): number {
    return this.#own.#deadline;
  }

  /** Milliseconds left until the deadline; infinite for none. */
  get remainingMs(): number {
    return this.#own.#deadline - performance.now();
  }

  /** Why the call was aborted; null while it goes on. */
  get reason(): Error | null {
    const own = this.#own;
    if (own.#isOver) own.cancel(new DeadlineError());
    return own.#reason;
  }

  /** Its time is over, which no timer has told. */
  get #isOver(): boolean {
    if (this.#reason || this.#timer || this.#isFinished || this.#deadline === Number.POSITIVE_INFINITY) return false;
    return performance.now() >= this.#deadline;
  }

  /** The cancellation as a standard signal, made at first use. */
  get signal(): AbortSignal {
    const own = this.#own;
    if (!own.#controller) {
      own.#controller = new AbortController();
      if (own.#reason) own.#controller.abort(own.#reason);
      else own.#watch();
    }
    return own.#controller.signal;
  }

  /** The call has come to its endpoint: from now on its log and its time hold. */
  enter(log: Log, timeoutMs: number): void {
    this.log = log;
    this.limit(timeoutMs);
  }

  /** Brings the deadline forward; one that would be later changes nothing. */
  limit(timeoutMs: number): void {
    const own = this.#own;
    const deadline = performance.now() + timeoutMs;
    if (!(deadline < own.#deadline) || own.#reason) return;
    own.#deadline = deadline;
    if (own.#timer) clearTimeout(own.#timer);
    own.#timer = null;
    if (own.#first || own.#controller) own.#watch();
  }

  /** Watches the deadline, once there is somebody to tell of it: a call that is answered at once needs no timer. */
  #watch(): void {
    if (this.#timer || this.#isFinished || this.#deadline === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(expire, Math.max(timerMs(this.#deadline - performance.now()), 0), this);
  }

  /** Calls the listener when the call is aborted, at once when it already is. Cheaper than `signal`. */
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

  /** @internal Takes a place out of the list: `off` of what `onCancel` returned does it. */
  unlink(waiting: Waiting): void {
    if (waiting.previous) waiting.previous.next = waiting.next;
    else this.#first = waiting.next;
    if (waiting.next) waiting.next.previous = waiting.previous;
    else this.#last = waiting.previous;
  }

  /** Gives the call up, and every call forked from it. */
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

  /** Ends the watch over the deadline: the call is answered. */
  finish(): void {
    const own = this.#own;
    if (own.#timer) clearTimeout(own.#timer);
    own.#timer = null;
    own.#isFinished = true;
    own.#waiting?.off();
    own.#waiting = null;
  }

  /** A part of this call: cancelled with it, or alone, or after `timeoutMs`. Values are shared. */
  fork(timeoutMs = Number.POSITIVE_INFINITY): Call {
    const own = this.#own;
    const fork = new Call(this.log, timeoutMs, this.#host, { whole: this, frame: this.#frame, adds: false });
    if (own.#reason) fork.cancel(own.#reason);
    else fork.#waiting = own.#join(fork);
    return fork;
  }

  /**
   * The same call with one value more, which only what gets it sees: for a span or an identity that belongs to one of
   * several backends. Deadline and cancellation stay those of this call.
   */
  with<T>(slot: Slot<T>, value: T): Call {
    const frame = { name: slot.name, value, outer: this.#frame };
    return new Call(this.log, Number.POSITIVE_INFINITY, this.#host, { whole: this, frame, adds: true });
  }

  /** @internal Of the whole call; null where nobody follows it. */
  get trail(): Trail | null {
    return this.#root.#trail;
  }

  set trail(trail: Trail | null) {
    this.#root.#trail = trail;
  }

  /** The value of a slot: the nearest one that `with` gave, else the one `set` left; undefined when there is none. */
  get<T>(slot: Slot<T>): T | undefined {
    for (let frame = this.#frame; frame; frame = frame.outer) if (frame.name === slot.name) return frame.value as T;
    return this.#root.#values?.get(slot.name) as T | undefined;
  }

  /** Leaves a value for everything that belongs to the same request. */
  set<T>(slot: Slot<T>, value: T): void {
    this.#root.#values ??= new Map();
    this.#root.#values.set(slot.name, value);
  }

  /** Calls the listener once, when the response has ended or its client has left. What it throws is logged. */
  onEnd(listener: (outcome: Outcome) => void): void {
    this.#root.#onEnd ??= [];
    this.#root.#onEnd.push(listener);
  }

  /** Tells everyone who waits how the call ended. Only the owner of a call ends it. */
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
   * Work that goes on when the client has its answer: its failure is logged, and the configuration it belongs to is kept
   * until it has ended or the drain time is over.
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
