import {
  endpointId,
  joined,
  type Operations,
  quantile,
  statusClasses,
  type Timers,
  TrafficReader,
  type TrafficWindow,
  type WorkerInfo,
} from '#kernel';

/** Traffic of an endpoint within an interval. */
export interface EndpointSample {
  /** Method and path, as in `GET /users/{id}`. */
  readonly endpoint: string;
  readonly calls: number;
  readonly errors: number;
  /** Null without calls. */
  readonly p99Ms: number | null;
}

/** Traffic of all endpoints within an interval, and the processes at its end. */
export interface TrafficSample {
  /** Number of the sample; consecutive. */
  readonly id: number;
  /** End of the interval, in milliseconds since 1970. */
  readonly endedAt: number;
  readonly durationMs: number;
  readonly calls: number;
  /** Responses with a status of 500 or above, except intended rejections. */
  readonly errors: number;
  /** Responses by status class, in the order of `statusClasses`. */
  readonly statuses: readonly number[];
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  /** Requests and streams in progress at the end. */
  readonly inProgress: number;
  readonly connections: number;
  /** Processor time of all processes divided by the duration: 1 is one processor in full use. */
  readonly cpu: number;
  readonly rssBytes: number;
  /** The longest delay of an event loop. */
  readonly loopLagMs: number;
  /** The endpoints with the most calls, at most `maxEndpoints`. */
  readonly endpoints: readonly EndpointSample[];
}

/** The observed gateway. */
export interface Observed {
  readonly gateway: Operations;
  /** The processes that serve. */
  workers(): readonly WorkerInfo[];
}

export interface TrafficRecorderOptions {
  readonly intervalMs: number;
  /** Number of samples kept. */
  readonly maxSamples: number;
  /** Number of endpoints listed in a sample. */
  readonly maxEndpoints: number;
  /** Time without a reader after which sampling pauses, in milliseconds; infinite to sample always. */
  readonly idleMs: number;
}

/** Takes a sample of the traffic at every interval and keeps the latest ones. */
export class TrafficRecorder {
  readonly #observed: Observed;
  readonly #timers: Timers;
  readonly #options: TrafficRecorderOptions;
  #samples: TrafficSample[] = [];
  #nextId = 1;
  #reader = new TrafficReader();
  #cpuMs = 0;
  #beganAt = 0;
  #readAt: number;
  #cancel: (() => void) | null = null;

  constructor(observed: Observed, options: TrafficRecorderOptions, timers: Timers) {
    this.#observed = observed;
    this.#timers = timers;
    this.#options = options;
    this.#readAt = timers.now();
    if (options.idleMs === Number.POSITIVE_INFINITY) this.#start();
  }

  get intervalMs(): number {
    return this.#options.intervalMs;
  }

  /**
   * Samples after a number, oldest first. A number that was not reached yet is from before a restart: all samples are
   * returned. Starts sampling if it has paused.
   */
  after(id: number): readonly TrafficSample[] {
    this.#readAt = this.#timers.now();
    if (!this.#cancel) this.#start();
    return id < this.#nextId ? this.#samples.filter((sample) => sample.id > id) : this.#samples;
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Ignores traffic before this moment, because traffic during a pause belongs to no sample. */
  #start(): void {
    this.#samples = [];
    this.#reader = new TrafficReader();
    this.#beganAt = this.#timers.now();
    this.#cpuMs = this.#processes().cpuMs;
    for (const { traffic } of this.#observed.gateway.serving.compiled.published) this.#reader.take(traffic);
    this.#wait();
  }

  #wait(): void {
    const { intervalMs, idleMs } = this.#options;
    this.#cancel = this.#timers.after(intervalMs, () => {
      this.#cancel = null;
      if (this.#timers.now() - this.#readAt > idleMs) return;
      this.#take();
      this.#wait();
    });
  }

  #take(): void {
    const { maxSamples, maxEndpoints } = this.#options;
    const statuses = new Array<number>(statusClasses.length).fill(0);
    const windows: TrafficWindow[] = [];
    const endpoints: EndpointSample[] = [];
    for (const { endpoint, traffic } of this.#observed.gateway.serving.compiled.published) {
      const { window, statuses: counts } = this.#reader.take(traffic);
      if (window.calls === 0) continue;
      for (const [at, count] of counts.entries()) statuses[at]! += count;
      windows.push(window);
      const { calls, errors } = window;
      endpoints.push({ endpoint: endpointId(endpoint), calls, errors, p99Ms: rounded(quantile(window, 0.99)) });
    }
    const total = joined(windows);
    const now = this.#timers.now();
    const { cpuMs, ...processes } = this.#processes();
    const durationMs = Math.max(1, Math.round(now - this.#beganAt));
    this.#samples.push({
      id: this.#nextId++,
      endedAt: Date.now(),
      durationMs,
      calls: total.calls,
      errors: total.errors,
      statuses,
      p50Ms: rounded(quantile(total, 0.5)),
      p95Ms: rounded(quantile(total, 0.95)),
      p99Ms: rounded(quantile(total, 0.99)),
      ...processes,
      // The difference may be negative: the processor time of a process that has been replaced is no longer included.
      cpu: Math.max(0, rounded((cpuMs - this.#cpuMs) / durationMs)!),
      endpoints: endpoints.sort((a, b) => b.calls - a.calls).slice(0, maxEndpoints),
    });
    this.#cpuMs = cpuMs;
    this.#beganAt = now;
    if (this.#samples.length > maxSamples) this.#samples.shift();
  }

  #processes() {
    const workers = this.#observed.workers();
    const sum = (of: (worker: (typeof workers)[number]) => number) => workers.reduce((all, one) => all + of(one), 0);
    return {
      inProgress: sum(({ calls, streams }) => calls + streams),
      connections: sum(({ connections }) => connections),
      cpuMs: sum(({ cpuMs }) => cpuMs),
      rssBytes: sum(({ rssBytes }) => rssBytes),
      loopLagMs: workers.reduce((most, { loopLagMs }) => Math.max(most, loopLagMs), 0),
    };
  }
}

/** Rounds to three decimals, so that samples are short. */
function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000;
}
