import { BackendResponses, StatusCounts } from './backend-responses.ts';
import type { RequestObserver } from './observer.ts';
import { addBuckets, BUCKETS, between, bucketOf, noTraffic, sparse, type TrafficWindow } from './window.ts';

/** An endpoint's traffic since the previous report, as plain data to send to another process. */
export interface EndpointDelta extends TrafficWindow {
  /** Responses to clients, in the order of `statusClasses`. */
  readonly statuses: readonly number[];
  /** Responses of each backend, in the same order. */
  readonly backends: readonly (readonly [name: string, statuses: readonly number[]])[];
}

/**
 * Traffic counters of one endpoint. Cheap enough for every request; an endpoint that is never called allocates no
 * counters.
 */
export class EndpointTraffic {
  /** Responses to clients. */
  readonly statuses = new StatusCounts();
  readonly backends = new BackendResponses();
  /** Handles the requests of clients while they are observed; null otherwise. Kept across reloads, like the counters. */
  observer: RequestObserver | null = null;
  #calls = 0;
  #errors = 0;
  #latencyNs = 0;
  #counts: Float64Array | null = null;
  #reported: TrafficWindow = noTraffic;

  /**
   * @param status sent to the client.
   * @param refused whether the request was rejected on purpose before the pipe, for example by a rate limit; this is
   * never an error.
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

  /** Number of calls with a status of 500 or above, except intended rejections. */
  get errors(): number {
    return this.#errors;
  }

  /** Traffic so far; later calls do not change the result. */
  snapshot(): TrafficWindow {
    if (!this.#counts) return noTraffic;
    return {
      calls: this.#calls,
      errors: this.#errors,
      latencyNs: this.#latencyNs,
      buckets: sparse(this.#counts),
    };
  }

  /** Traffic since the previous call; null when there was none. For a single consumer only. */
  takeDelta(): EndpointDelta | null {
    if (this.#calls === this.#reported.calls) return null;
    const now = this.snapshot();
    const delta = between(this.#reported, now);
    this.#reported = now;
    const backends = Array.from(this.backends, ([name, counts]) => [name, counts.takeDelta()] as const);
    return { ...delta, statuses: this.statuses.takeDelta(), backends };
  }

  /** Adds the traffic of another process. */
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
