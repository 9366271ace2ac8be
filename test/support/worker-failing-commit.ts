import { Generations } from '../../kernel/control/generations.ts';
import { silentSinks } from '../../kernel/testing/index.ts';
import { runWorker } from '../../kernel/workers/worker.ts';
import { catalogue } from '../../plugins/index.ts';

/** A worker program whose first configuration change fails at the swap. */
const { prepare } = Generations.prototype;
let failed = false;
Generations.prototype.prepare = async function (this: Generations, ...args: Parameters<typeof prepare>) {
  const prepared = await prepare.apply(this, args);
  if (failed || prepared.runtime.id === 1) return prepared;
  failed = true;
  const commit = () => {
    throw new Error('the swap failed');
  };
  return { ...prepared, commit };
};

process.exitCode = await runWorker(catalogue, JSON.parse(process.argv.at(-1)!), silentSinks);
