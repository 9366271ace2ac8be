import type { WorkerSettings } from '../../workers/messages.ts';
import type { Command } from '../command.ts';

/** A worker process of `run --workers`: it serves the configurations that the process that started it sends. */
export const worker: Command = {
  usage: 'SETTINGS',
  summary: 'Serve as a worker process.',
  flags: {},
  async run(args, { catalogue }) {
    const { runWorker } = await import('../../workers/worker.ts');
    return runWorker(catalogue, JSON.parse(args.at(-1)!) as WorkerSettings);
  },
};
