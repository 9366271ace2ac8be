import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GatewayOptions, WorkerOptions } from '../control/gateway-options.ts';
import type { WorkerPool, WorkerPoolOptions } from '../workers/worker-pool.ts';

/** Default program of workers: the command of this package. */
const command = {
  program: fileURLToPath(new URL(`../bin${extname(import.meta.url)}`, import.meta.url)),
  args: ['worker'],
} as const;

/** Starts the serving processes under this one. @param parts of the gateway that they belong to. */
export async function openWorkers(
  workers: WorkerOptions,
  { port, debug = false, log = true, pluginFolder }: GatewayOptions,
  parts: Omit<WorkerPoolOptions, keyof WorkerOptions | 'settings'>,
): Promise<WorkerPool> {
  const settings = { port: port ?? null, debug, log, plugins: pluginFolder ?? null };
  // Loaded on first use: a process that serves alone never needs it.
  const { WorkerPool } = await import('../workers/worker-pool.ts');
  return new WorkerPool({ ...command, ...workers, settings, ...parts });
}
