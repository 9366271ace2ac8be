import { deepEqual, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { boundInArguments } from '../../../kernel/workers/young-generation.ts';

const run = promisify(execFile);
const MIB = 2 ** 20;

/** Size that the space for new objects reaches in a process that keeps all its objects, in bytes. */
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

describe('the heap space for new objects in a serving process', () => {
  it('is enlarged, but limited', async () => {
    const room = await largestRoom();
    ok(room >= 16 * MIB && room <= 48 * MIB, `${room} bytes`);
  });

  it('can be set on the command line', async () => {
    ok((await largestRoom('--max-semi-space-size=32')) > 32 * MIB);
  });

  it('is limited in the arguments of workers', () => deepEqual(boundInArguments(), ['--max-semi-space-size=8']));
});

describe('a process that loads a large configuration', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'young-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Number of young-generation collections in a process that keeps all its objects. @param bytes size of the file; null for no file. */
  async function collections(name: string, bytes: number | null): Promise<number> {
    const file = join(folder, name);
    if (bytes !== null) writeFileSync(file, Buffer.alloc(bytes));
    const program = `
      import { setImmediate } from 'node:timers/promises';
      import { PerformanceObserver } from 'node:perf_hooks';
      import { setFlagsFromString } from 'node:v8';
      import { loadIntoYoungGeneration } from ${JSON.stringify(resolve('kernel/workers/young-generation.ts'))};
      // As the program does when it begins.
      setFlagsFromString('--semi-space-growth-factor=1');
      let collections = 0;
      new PerformanceObserver((list) => { collections += list.getEntries().length; }).observe({ entryTypes: ['gc'] });
      const end = loadIntoYoungGeneration(${JSON.stringify(file)});
      const kept = [];
      for (let turn = 0; turn < 400; turn++) {
        for (let made = 0; made < 4_000; made++) kept.push({ turn, made });
        await setImmediate();
      }
      end();
      console.log(collections);
    `;
    return Number((await run(process.execPath, ['--input-type=module', '--eval', program])).stdout);
  }

  it('collects new objects less often', async () => {
    const [large, small, absent] = [
      await collections('large.json', MIB),
      await collections('small.json', 1024),
      await collections('absent.json', null),
    ];
    ok(large < small / 2 && large < absent / 2, `${large} times, ${small} and ${absent}`);
  });
});
