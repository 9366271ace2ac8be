import { BackendResponses, StatusCounts } from './backend-responses.ts';
import { addBuckets, BUCKETS, between, bucketOf, noTraffic, sparse, type TrafficWindow } from './traffic-window.ts';

/** What a process tells another of an endpoint: what it served since it last told, as plain data. */
export interface EndpointDelta extends TrafficWindow {
  /** What clients were answered, in the order of `statusClasses`. */
  readonly statuses: readonly number[];
  /** What each backend answered, likewise. */
  readonly backends: readonly (readonly [name: string, statuses: readonly number[]])[];
}

/** What one endpoint has served. Cheap enough for every request; an endpoint never called holds no counts. */
export class EndpointTraffic {
  /** What clients were answered. */
  readonly statuses = new StatusCounts();
  readonly backends = new BackendResponses();
  #calls = 0;
  #errors = 0;
  #latencyNs = 0;
  #counts: Float64Array | null = null;
  #told: TrafficWindow = noTraffic;

  /**
   * @param status the one the client was given.
   * @param refused on purpose, before the pipe, as by a limit: never an error.
   */
  record(latencyMs: number, status: number, refused = false): void {
    this.#calls++;
    if (status >= 500 && !refused) this.#errors++;
    this.#latencyNs += Math.round(latencyMs * 1e6);
    this.#counts ??= new Float64Array(BUCKETS);
    this.#counts[bucketOf(latencyMs)]!++;
    this.statuses.record(status);
  }

  get calls(): number {
    return this.#calls;
  }

  /** Calls answered with a status of 500 or above, other than on purpose. */
  get errors(): number {
    return this.#errors;
  }

  /** Everything up to now; later calls do not change it. */
  snapshot(): TrafficWindow {
    if (!this.#counts) return noTraffic;
    return {
      calls: this.#calls,
      errors: this.#errors,
      latencyNs: this.#latencyNs,
      buckets: sparse(this.#counts),
    };
  }

  /** What was served since the last time it was asked; null when that is nothing. For one asker only. */
  takeDelta(): EndpointDelta | null {
    if (this.#calls === this.#told.calls) return null;
    const now = this.snapshot();
    const delta = between(this.#told, now);
    this.#told = now;
    const backends = Array.from(this.backends, ([name, counts]) => [name, counts.takeDelta()] as const);
    return { ...delta, statuses: this.statuses.takeDelta(), backends };
  }

  /** Adds what another process has served. */
  merge(delta: EndpointDelta): void {
    this.#calls += delta.calls;
    this.#errors += delta.errors;
    this.#latencyNs += delta.latencyNs;
    this.#counts ??= new Float64Array(BUCKETS);
    addBuckets(this.#counts, delta);
    this.statuses.merge(delta.statuses);
    for (const [name, statuses] of delta.backends) this.backends.of(name).merge(statuses);
  }
}
