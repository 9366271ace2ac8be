import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GatewayOptions, WorkerOptions } from '../control/gateway-options.ts';
import type { WorkerPool, WorkerPoolOptions } from '../workers/worker-pool.ts';

/** The program that workers run when no other one is named: the command of this package. */
const command = {
  program: fileURLToPath(new URL(`../bin${extname(import.meta.url)}`, import.meta.url)),
  args: ['worker'],
} as const;

/** Starts the processes that serve under this one. @param parts of the gateway that they belong to. */
export async function openWorkers(
  workers: WorkerOptions,
  { port, debug = false, log = true, pluginFolder }: GatewayOptions,
  parts: Omit<WorkerPoolOptions, keyof WorkerOptions | 'settings'>,
): Promise<WorkerPool> {
  const settings = { port: port ?? null, debug, log, plugins: pluginFolder ?? null };
  // Loaded when first used: a process that serves alone never needs it.
  const { WorkerPool } = await import('../workers/worker-pool.ts');
  return new WorkerPool({ ...command, ...workers, settings, ...parts });
}
