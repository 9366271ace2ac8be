import type { GenerationInfo } from '../control/generations.ts';
import type { ListenOptions } from '../control/public-port.ts';
import type { WorkerInfo } from '../workers/worker-info.ts';

/** The serving processes: this one, or its workers. Figures are totals; those of workers may be slightly stale. */
export interface ServingProcesses {
  readonly workers: readonly WorkerInfo[];
  /** True while every process serves the configuration that was applied last. */
  readonly converged: boolean;
  /** True while at least one process serves. */
  readonly serving: boolean;
  /** Listening port; null before it is open. */
  readonly port: number | null;
  /** True while connections are closed after their response, so that clients reconnect elsewhere. */
  readonly closing: boolean;
  /** The serving configuration, then its predecessors that still have requests, newest first. */
  readonly held: readonly GenerationInfo[];
  /** Requests aborted because their configuration had been replaced for too long. */
  readonly aborted: number;
  /** Connections closed for a missing or malformed PROXY protocol header. */
  readonly headerFaults: number;
  /** Replaced configurations that were released but stay in memory. */
  readonly leaked: number;
  /** Active streams by endpoint, without those that are about to be ended. */
  readonly streamsByEndpoint: ReadonlyMap<string, number>;
  /** Counts the requests and streams in progress, across all configurations. */
  countInFlight(): Promise<number>;
  /** Opens the port. @throws GatewayError LISTEN_FAILED, LISTENING. */
  listen(address: ListenOptions): Promise<{ host: string; port: number }>;
  setClosing(closing: boolean): void;
}
