import { deepEqual, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { boundInArguments } from '../../../kernel/workers/young-generation.ts';

const run = promisify(execFile);
const MIB = 2 ** 20;

/** How large the room for new objects becomes in a process that keeps what it makes, in bytes. */
async function largestRoom(...args: readonly string[]): Promise<number> {
  const program = `
    import { setImmediate } from 'node:timers/promises';
    import { getHeapSpaceStatistics } from 'node:v8';
    import { serveFromYoungGeneration } from ${JSON.stringify(resolve('kernel/workers/young-generation.ts'))};
    serveFromYoungGeneration();
    const kept = [];
    let largest = 0;
    for (let turn = 0; turn < 400; turn++) {
      for (let made = 0; made < 4_000; made++) kept.push({ turn, made });
      await setImmediate();
      const room = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
      largest = Math.max(largest, room);
    }
    console.log(largest);
  `;
  const { stdout } = await run(process.execPath, [...args, '--input-type=module', '--eval', program]);
  return Number(stdout);
}

describe('the room for new objects of a process that serves', () => {
  it('grows, and is bounded', async () => {
    const room = await largestRoom();
    ok(room >= 16 * MIB && room <= 48 * MIB, `${room} bytes`);
  });

  it('grows as far as somebody has said on the command line', async () => {
    ok((await largestRoom('--max-semi-space-size=32')) > 32 * MIB);
  });

  it('is bounded in the arguments of workers', () => deepEqual(boundInArguments(), ['--max-semi-space-size=8']));
});
