import type { WorkerSettings } from '../workers/messages.ts';
import type { Command } from './command.ts';

/** One of the processes of `run --workers`: it serves what the process that started it says. */
export const worker: Command = {
  usage: 'SETTINGS',
  summary: 'Serve as a worker process.',
  flags: {},
  async run(args, { catalogue }) {
    const { runWorker } = await import('../workers/worker.ts');
    return runWorker(catalogue, JSON.parse(args.at(-1)!) as WorkerSettings);
  },
};
