import type { GatewayOptions, WorkerOptions } from '../control/gateway-options.ts';
import type { WorkerPool, WorkerPoolOptions } from '../workers/worker-pool.ts';
import { ownProgram } from './own-program.ts';

/** Starts the worker processes of this process. @param parts of the gateway that the workers belong to. */
export async function openWorkers(
  workers: WorkerOptions,
  { port, debug = false, log = true, pluginFolder }: GatewayOptions,
  parts: Omit<WorkerPoolOptions, keyof WorkerOptions | 'settings'>,
): Promise<WorkerPool> {
  const settings = { port: port ?? null, debug, log, plugins: pluginFolder ?? null };
  // Loaded on first use, because a process that serves without workers never needs it.
  const { WorkerPool } = await import('../workers/worker-pool.ts');
  return new WorkerPool({ program: ownProgram, args: ['worker'], ...workers, settings, ...parts });
}
