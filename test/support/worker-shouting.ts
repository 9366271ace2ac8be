import { silentSinks } from '../../kernel/testing/index.ts';
import { runWorker } from '../../kernel/workers/worker.ts';
import { catalogue } from '../../plugins/index.ts';
import { shout } from './shout.ts';

/** A worker program with connections that switch to another protocol. */
const plugins = { ...catalogue.plugins, [shout.name]: async () => ({ plugin: shout }) };
process.exitCode = await runWorker({ ...catalogue, plugins }, JSON.parse(process.argv.at(-1)!), silentSinks);
