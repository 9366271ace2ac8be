import { getHeapStatistics } from 'node:v8';
import { cpuUsage } from '../../shared/calls/cpu-usage.ts';

/** CPU time limit of one script per request, in total for all its parts. */
const CPU_LIMIT_MS = 100;
/** Limit of the total bytes of created strings and tables, and of heap growth while the script runs. */
const MADE_LIMIT_BYTES = 64 * 1024 * 1024;
const HEAP_LIMIT_BYTES = 64 * 1024 * 1024;
/** Maximum length of a string, in bytes. */
export const MAX_STRING_BYTES = 8 * 1024 * 1024;

/** Time checks between two heap checks, which are slower. */
const LOOKS_AT_HEAP = 20;

/** Length from which on creating a string triggers a check, in bytes, because processing it takes time. */
export const LONG_STRING_BYTES = 16 * 1024;

/** A script exceeded its budget; the script cannot catch the error. */
export class BudgetExceeded extends Error {}

/** Resources that a script has used so far. A script runs in parts, with waits between them. */
export class Budget {
  /** Reason why the script was terminated; null while it may continue. */
  exceeded: string | null = null;
  #ending: BudgetExceeded | null = null;
  #madeBytes = 0;
  #usedMs = 0;
  #startedCpu: NodeJS.CpuUsage | null = null;
  #heapAtStart = 0;
  #looks = 0;
  readonly #deadline: number;

  /** @param deadline in milliseconds of `performance.now()`. */
  constructor(deadline: number) {
    this.#deadline = deadline;
  }

  /** Runs a part of the script and counts what it uses. */
  run<T>(part: () => T): T {
    const outer = current;
    current = this;
    this.#startedCpu = null;
    this.#heapAtStart = 0;
    const started = performance.now();
    try {
      return part();
    } finally {
      current = outer;
      const { user } = this.#startedCpu ? cpuUsage(this.#startedCpu) : noUsage;
      this.#usedMs += this.#startedCpu ? user / 1000 : Math.min(performance.now() - started, 1);
    }
  }

  made(bytes: number): void {
    if (bytes > MAX_STRING_BYTES) this.stop(`a string of more than ${MAX_STRING_BYTES} bytes`);
    this.#madeBytes += bytes;
    if (this.#madeBytes > MADE_LIMIT_BYTES) this.stop('it used too much memory');
    if (bytes >= LONG_STRING_BYTES) this.look();
  }

  /** Checks the budget. @throws BudgetExceeded if the script has exceeded it. */
  look(): void {
    this.refuse();
    if (performance.now() > this.#deadline) this.stop('the timeout of the request has expired');
    if (this.#startedCpu === null) {
      this.#startedCpu = cpuUsage();
    } else if (this.#usedMs + cpuUsage(this.#startedCpu).user / 1000 > CPU_LIMIT_MS) {
      this.stop(`it ran for more than ${CPU_LIMIT_MS} ms`);
    }
    if (++this.#looks % LOOKS_AT_HEAP !== 0) return;
    const { used_heap_size: used } = getHeapStatistics();
    if (this.#heapAtStart === 0) this.#heapAtStart = used;
    else if (used - this.#heapAtStart > HEAP_LIMIT_BYTES) this.stop('it used too much memory');
  }

  stop(why: string): never {
    this.exceeded ??= why;
    this.#ending ??= new BudgetExceeded(this.exceeded);
    throw this.#ending;
  }

  /** Stops a script that was ended. @throws BudgetExceeded, the same on every call. */
  refuse(): void {
    if (this.#ending) throw this.#ending;
  }
}

const noUsage = { user: 0, system: 0 };

let current: Budget | null = null;

/** The budget of the running script; null if none is running. */
export function currentBudget(): Budget | null {
  return current;
}

/** Counts bytes of a string or a table. @throws BudgetExceeded. */
export function spendMemory(bytes: number): void {
  current?.made(bytes);
}
