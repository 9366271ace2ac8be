import type { GenerationInfo } from '../control/generations.ts';
import type { ListenOptions } from '../control/public-port.ts';
import type { WorkerInfo } from '../workers/worker-info.ts';

/** The processes that serve: this one, or its workers. Figures are of all of them together, those of workers a moment old. */
export interface ServingProcesses {
  readonly workers: readonly WorkerInfo[];
  /** True while every one serves the configuration that was applied last. */
  readonly converged: boolean;
  /** True while some of them serves. */
  readonly serving: boolean;
  /** Where clients connect; null before the port is open. */
  readonly port: number | null;
  /** True while connections are closed after their answer, so that clients go elsewhere. */
  readonly closing: boolean;
  /** The serving configuration, then those before it that still have requests, newest first. */
  readonly held: readonly GenerationInfo[];
  /** Requests aborted because their configuration had been replaced for too long. */
  readonly aborted: number;
  /** Replaced configurations that were released and stay in memory nevertheless. */
  readonly leaked: number;
  /** Streams under way, by endpoint; those that are about to be ended do not count. */
  readonly streamsByEndpoint: ReadonlyMap<string, number>;
  /** Requests and streams under way now, on every configuration. */
  countInFlight(): Promise<number>;
  /** Opens the port. @throws GatewayError LISTEN_FAILED, LISTENING. */
  listen(address: ListenOptions): Promise<{ host: string; port: number }>;
  setClosing(closing: boolean): void;
}
