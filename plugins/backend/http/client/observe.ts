import type { BackendConnection, Call, ConnectionObserver, PipeRequest } from '#contract';
import type { OriginPool } from './origin-pool.ts';

/** Reports one request to the observers. */
export class Observation {
  readonly #observers: readonly ConnectionObserver[];
  readonly #request: PipeRequest;
  readonly #call: Call;
  #since = performance.now();

  constructor(observers: readonly ConnectionObserver[], request: PipeRequest, call: Call) {
    this.#observers = observers;
    this.#request = request;
    this.#call = call;
  }

  /** Reports that the request is being sent. */
  sent(lane: OriginPool, origin: string): void {
    const now = performance.now();
    const waitMs = now - this.#since;
    this.#since = now;
    const reused = lane.proxied ? undefined : lane.fresh === null;
    const connection: BackendConnection = { origin, waitMs, reused, opened: lane.fresh };
    this.#notify((observer) => observer.connected(connection, this.#request, this.#call));
  }

  /** Reports that the response has started. */
  answered(): void {
    const ms = performance.now() - this.#since;
    this.#notify((observer) => observer.responded?.(ms, this.#request, this.#call));
  }

  #notify(report: (observer: ConnectionObserver) => void): void {
    for (const observer of this.#observers) {
      try {
        report(observer);
      } catch (error) {
        this.#call.log.error(() => `connection observer: ${error instanceof Error ? error.stack : String(error)}`);
      }
    }
  }
}
