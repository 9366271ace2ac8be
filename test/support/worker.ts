import { silentSinks } from '../../kernel/testing/index.ts';
import { runWorker } from '../../kernel/workers/worker.ts';
import { catalogue } from '../../plugins/index.ts';

/** A worker's program, for tests that start workers without the command line. */
process.exitCode = await runWorker(catalogue, JSON.parse(process.argv.at(-1)!), silentSinks);
