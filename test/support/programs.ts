import { join } from 'node:path';
import { built } from '../../scripts/build/built.ts';

/** Programs of tests that are bundled together with the package, by the names of their files in this folder. */
const programs = ['worker', 'worker-failing-commit', 'worker-shouting', 'faulty'];

const folder = await built(programs.map((name) => `test/support/${name}`));

/** The command, bundled as in the published package: it starts in a third of the time that the sources need. */
export const command = join(folder, 'kernel/bin.js');

/** One of the programs, bundled in the same way. Default: a worker. */
export function bundledProgram(name = 'worker'): string {
  return join(folder, `test/support/${name}.js`);
}
