import type { ObservedPart } from '../control/observation/observed-request.ts';
import type { ListenOptions } from '../control/public-port.ts';
import type { Sampling } from '../server/exchange/sample.ts';
import type { Heartbeat } from '../workers/messages.ts';
import type { WorkerInfo } from '../workers/worker-info.ts';

/** The serving processes: this one, or its workers. Figures are totals; those of workers may be slightly stale. */
export interface ServingProcesses
  extends Pick<Heartbeat, 'held' | 'aborted' | 'headerFaults' | 'leaked' | 'streamsByEndpoint'> {
  readonly workers: readonly WorkerInfo[];
  /** True while every process serves the configuration that was applied last. */
  readonly converged: boolean;
  /** True while at least one process serves. */
  readonly serving: boolean;
  /** Listening port; null before it is open. */
  readonly port: number | null;
  /** True while connections are closed after their response, so that clients reconnect elsewhere. */
  readonly closing: boolean;
  /** Counts the requests and streams in progress, across all configurations. */
  countInFlight(): Promise<number>;
  /**
   * Observes the requests of clients to an endpoint for the next 5 seconds.
   * @param id of the endpoint, as in `GET /users`.
   * @returns what each process observed since the previous call; processes that do not serve the endpoint are missing.
   */
  observe(id: string): Promise<readonly ObservedPart[]>;
  /** Stops observing an endpoint. */
  unobserve(id: string): void;
  /** Opens the port. @throws GatewayError LISTEN_FAILED, LISTENING. */
  listen(address: ListenOptions): Promise<{ host: string; port: number }>;
  setClosing(closing: boolean): void;
  /** Samples requests of clients in every process, now and after restarts, in place of an earlier order; null ends this. */
  sample(sampling: Sampling | null): void;
}
