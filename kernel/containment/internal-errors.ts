import type { Events, Log } from '#contract';
import type { FaultOwner } from '../contract/internal.ts';
import { LimitedLog } from './limited-log.ts';
import { messageOf, stackOf } from './source-place.ts';
import { handleFaults } from './stray-errors.ts';

/** Internal errors by the part of the gateway in which they happened. */
export type InternalErrorCounts = readonly (readonly [place: string, count: number])[];

/** Place of an error whose owner is unknown. */
const PROCESS = 'process';

/** Maximum number of internal errors within `WINDOW_MS` before a process that cannot be replaced exits. */
const MOST_ERRORS = 10;
const WINDOW_MS = 60_000;

export interface InternalErrorsOptions {
  readonly log: Log;
  readonly events: Events;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
}

/**
 * Uncaught exceptions and unhandled rejections in the gateway's own code. Each closes its owner, is logged with its
 * stack and counted; the process keeps running.
 */
export class InternalErrors {
  /** Called at every internal error of this process. */
  onError: (() => void) | null = null;
  /** Called once there were more than 10 internal errors within a minute. */
  onTooMany: (() => void) | null = null;
  readonly #events: Events;
  readonly #now: () => number;
  readonly #lines: LimitedLog;
  readonly #counts = new Map<string, number>();
  readonly #unreported = new Map<string, number>();
  #recent: number[] = [];
  #own = 0;
  #unhandle: (() => void) | null = null;

  constructor({ log, events, now }: InternalErrorsOptions) {
    this.#events = events;
    this.#now = now;
    this.#lines = new LimitedLog((line) => log.error(line));
  }

  /** Handles the uncaught errors of this process from now on. */
  watch(): void {
    this.#unhandle ??= handleFaults((error, owner) => this.#take(error, owner));
  }

  /** Counts by place, summed over all processes; those of workers lag slightly behind. */
  get counts(): InternalErrorCounts {
    return [...this.#counts];
  }

  /** Internal errors of this process itself. */
  get own(): number {
    return this.#own;
  }

  #take(error: unknown, owner: FaultOwner | null): void {
    const place = owner?.place ?? PROCESS;
    this.#own += 1;
    this.#count(place, 1);
    this.#unreported.set(place, (this.#unreported.get(place) ?? 0) + 1);
    const of = owner ? ` of ${owner.describe()}` : '';
    const message = messageOf(error);
    this.#lines.write(`${place} ${message}`, `internal error in ${place}${of}: ${message}`, `\n${stackOf(error)}`);
    this.#events.emit('internal.error', { place, message });
    try {
      owner?.fail(error);
    } catch (another) {
      this.#lines.write(`${place} closing`, `cannot close ${place} after an internal error: ${messageOf(another)}`);
    }
    this.onError?.();
    this.#limit();
  }

  #limit(): void {
    const now = this.#now();
    this.#recent = [...this.#recent.filter((at) => at > now - WINDOW_MS), now].slice(-MOST_ERRORS - 1);
    if (this.#recent.length <= MOST_ERRORS) return;
    this.onTooMany?.();
    this.onTooMany = null;
  }

  #count(place: string, count: number): void {
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + count);
  }

  /** Errors of this process since the last call. */
  takeDelta(): InternalErrorCounts {
    const delta = [...this.#unreported];
    this.#unreported.clear();
    return delta;
  }

  /** Adds the errors of another process. */
  merge(delta: InternalErrorCounts): void {
    for (const [place, count] of delta) this.#count(place, count);
  }

  close(): void {
    this.#unhandle?.();
    this.#unhandle = null;
    this.#lines.close();
  }
}
