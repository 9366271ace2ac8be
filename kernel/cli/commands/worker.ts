import type { WorkerSettings } from '../../workers/messages.ts';
import type { Command } from '../command.ts';

/** Runs a worker process of `run --workers`, which serves the configurations that the primary process sends. */
export const worker: Command = {
  usage: 'SETTINGS',
  summary: 'Serve as a worker process.',
  flags: {},
  async run(args, { catalogue }) {
    const { runWorker } = await import('../../workers/worker.ts');
    return runWorker(catalogue, JSON.parse(args.at(-1)!) as WorkerSettings);
  },
};
