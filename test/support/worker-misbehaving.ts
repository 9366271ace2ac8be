import { silentSinks } from '../../kernel/testing/index.ts';
import { runWorker } from '../../kernel/workers/worker.ts';
import { catalogue } from '../../plugins/index.ts';
import { misbehaving } from './misbehaving.ts';

/** A worker program with a misbehaving plugin. */
const plugins = { ...catalogue.plugins, [misbehaving.name]: async () => ({ plugin: misbehaving }) };
process.exitCode = await runWorker({ ...catalogue, plugins }, JSON.parse(process.argv.at(-1)!), silentSinks);
