import { enableCompileCache } from 'node:module';

// Caches compiled code, as the program itself does, because tests start this process repeatedly.
enableCompileCache();
const [{ silentSinks }, { runWorker }, { catalogue }] = await Promise.all([
  import('../../kernel/testing/index.ts'),
  import('../../kernel/workers/worker.ts'),
  import('../../plugins/index.ts'),
]);

/** A worker program, for tests that start workers without the command line. */
process.exitCode = await runWorker(catalogue, JSON.parse(process.argv.at(-1)!), silentSinks);
