import type { WorkerSlot } from './worker-slot.ts';

/** Minimum time between replacements of a worker that has internal errors, in milliseconds. */
const PAUSE_MS = 5_000;

export interface SuccessionOptions {
  /** Creates the successor of a worker, without starting it. */
  readonly successorOf: (slot: WorkerSlot) => WorkerSlot;
  /** Time limit for a replaced worker to end its requests, in milliseconds. */
  readonly drainMs: () => number;
}

/** Replaces workers that had an internal error: a successor starts first, then the faulty one ends its requests and exits. */
export class Succession {
  readonly #options: SuccessionOptions;
  /** Faulty workers by the successor that will replace them. */
  readonly #faulty = new Map<WorkerSlot, WorkerSlot>();
  /** Replaced workers that are still draining. */
  readonly #ending = new Map<WorkerSlot, Promise<void>>();
  /** Time of the last replacement, by worker id. */
  readonly #replacedAt = new Map<number, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isClosed = false;

  constructor(options: SuccessionOptions) {
    this.#options = options;
  }

  /** Workers that are starting as replacements, and replaced ones that are still draining. */
  get workers(): readonly WorkerSlot[] {
    return [...this.#faulty.keys(), ...this.#ending.keys()];
  }

  /** Starts the successor of a faulty worker, unless it has one already. */
  replace(slot: WorkerSlot): void {
    if (this.#isClosed || this.#ending.has(slot) || [...this.#faulty.values()].includes(slot)) return;
    const successor = this.#options.successorOf(slot);
    this.#faulty.set(successor, slot);
    const sinceLast = performance.now() - (this.#replacedAt.get(slot.id) ?? Number.NEGATIVE_INFINITY);
    if (sinceLast >= PAUSE_MS) return successor.start();
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      successor.start();
    }, PAUSE_MS - sinceLast);
    timer.unref();
    this.#timers.add(timer);
  }

  /** Ends the worker that a successor replaces, once the successor serves. @returns the replaced worker, which drains from now on; undefined for none. */
  takeOver(successor: WorkerSlot): WorkerSlot | undefined {
    const slot = this.#faulty.get(successor);
    if (!slot) return undefined;
    this.#faulty.delete(successor);
    this.#replacedAt.set(slot.id, performance.now());
    const ended = slot.stop(this.#options.drainMs()).finally(() => this.#ending.delete(slot));
    this.#ending.set(slot, ended);
    return slot;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const successors = [...this.#faulty.keys()];
    this.#faulty.clear();
    await Promise.all([...successors.map((slot) => slot.stop()), ...this.#ending.values()]);
  }
}
