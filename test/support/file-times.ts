import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Context, Suite } from 'mocha';

/** File in which `scripts/check` collects times. */
const record = process.env['SLUICE_TEST_TIMES'];

/** Linux counts processor time in hundredths of a second, whatever the kernel's own clock is. */
const TICK_MS = 10;

interface Times {
  readonly wallMs: number;
  readonly ownMs: number;
  readonly childrenMs: number;
}

/** Times at the end of the previous file in this process. */
let last: Times = { wallMs: 0, ownMs: 0, childrenMs: 0 };

/** Records the time of each test file, including loading it, in the process that runs it. */
export const mochaHooks = record === undefined ? {} : { afterAll: writeDown };

function writeDown(this: Context): void {
  const now = timesOf();
  const [suite] = (this.test!.parent as Suite).suites;
  const took = {
    file: suite?.file,
    wallMs: now.wallMs - last.wallMs,
    ownMs: now.ownMs - last.ownMs,
    childrenMs: now.childrenMs - last.childrenMs,
  };
  last = now;
  if (took.file !== undefined) appendFileSync(record!, `${JSON.stringify(took)}\n`);
}

function timesOf(): Times {
  const { user, system } = process.cpuUsage();
  return { wallMs: performance.now(), ownMs: (user + system) / 1000, childrenMs: childrenMs() };
}

/** Processor time of all children that have ended: fields 16 and 17 of the process's line, after the name in brackets. */
function childrenMs(): number {
  if (!existsSync('/proc/self/stat')) return 0;
  const line = readFileSync('/proc/self/stat', 'utf8');
  const [user, system] = line
    .slice(line.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15);
  return (Number(user) + Number(system)) * TICK_MS;
}
