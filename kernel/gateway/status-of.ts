import type { ConfigError } from '#contract';
import type { Generations } from '../control/generations.ts';
import type { WorkerInfo } from '../workers/worker-info.ts';
import type { GatewayStatus } from './gateway.ts';

/** Current state of a gateway, in this process and in its workers. */
export function statusOf(
  { current, calls, streams, draining }: Generations,
  warnings: readonly ConfigError[],
  workers: readonly WorkerInfo[],
): GatewayStatus {
  const { id, hash } = current.runtime;
  // The main process is included because it handles requests made with `inject`.
  return {
    revision: id,
    hash,
    warnings,
    calls: workers.reduce((sum, worker) => sum + worker.calls, calls),
    streams: workers.reduce((sum, worker) => sum + worker.streams, streams),
    draining: draining.length,
  };
}
