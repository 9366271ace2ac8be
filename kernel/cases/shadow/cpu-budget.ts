/** Sources of time and processor time, in milliseconds. */
export interface CpuSource {
  /** Time of the monotonic clock. */
  now(): number;
  /** Processor time of the process, of all its threads. */
  cpuMs(): number;
}

/** Share of one processor core that a candidate may use on average. */
const SHARE = 0.2;

/** Processor time that can be saved up while idle, in milliseconds. */
const BURST_MS = 1000;

/** Assumed processor time of a request before any has been measured, in milliseconds. */
const FIRST_COST_MS = 100;

/** Weight of the latest request in their average cost. */
const WEIGHT = 0.1;

/** The processor of this process and the monotonic clock. */
export const ownCpu: CpuSource = {
  now: () => performance.now(),
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/**
 * Admits requests while the process uses at most a fifth of a core on average. Time above that is owed: requests are
 * rejected until it is paid back. The cost of requests in progress is reserved, so that many at once cannot exceed the
 * budget by far.
 */
export class CpuBudget {
  readonly #source: CpuSource;
  #allowedMs = BURST_MS;
  #costMs = FIRST_COST_MS;
  #running = 0;
  #finished = 0;
  #now: number;
  #cpuMs: number;

  /** @param cpuMs processor time before which nothing counts. Default: that of the start of the process. */
  constructor(source: CpuSource = ownCpu, cpuMs = 0) {
    this.#source = source;
    this.#now = source.now();
    this.#cpuMs = cpuMs;
  }

  /** Admits a request. @returns a function to call once it has finished, at most once; null if it must be skipped. */
  admit(): (() => void) | null {
    this.#settle();
    if (this.#allowedMs <= this.#running * this.#costMs) return null;
    this.#running++;
    return () => {
      this.#running--;
      this.#finished++;
    };
  }

  /** Adds the time that has passed, and subtracts the processor time that was used. */
  #settle(): void {
    const [now, cpuMs] = [this.#source.now(), this.#source.cpuMs()];
    const usedMs = cpuMs - this.#cpuMs;
    this.#allowedMs = Math.min(BURST_MS, this.#allowedMs + (now - this.#now) * SHARE) - usedMs;
    if (this.#finished > 0) {
      const weight = 1 - (1 - WEIGHT) ** this.#finished;
      this.#costMs += (usedMs / this.#finished - this.#costMs) * weight;
    }
    [this.#now, this.#cpuMs, this.#finished] = [now, cpuMs, 0];
  }
}
