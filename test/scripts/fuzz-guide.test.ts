import { deepEqual, equal, ok } from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { startCoverage } from '../../scripts/fuzz/block-coverage.ts';
import { blocksOf } from '../../scripts/fuzz/blocks.ts';
import { type CampaignReport, runCampaign } from '../../scripts/fuzz/campaign.ts';
import { changedTape, TapePlayer } from '../../scripts/fuzz/tape.ts';
import { defineTarget } from '../../scripts/fuzz/target.ts';

const maze = 'test/support/maze.ts';
const doors = fc.array(fc.nat({ max: 63 }), { minLength: 4, maxLength: 8 });

describe('coverage-guided fuzzing', function () {
  this.timeout(60_000);

  it('reaches a branch that random input reaches once in 16 million attempts', async () => {
    const guided = await exploreMaze(true);
    equal(guided.find?.message.includes('at the end of the maze'), true);
    const path = (guided.find?.input ?? []) as readonly number[];
    deepEqual(path.slice(0, 4), [17, 42, 5, 63]);
    ok(guided.kept >= 3, `${guided.kept} inputs are kept`);
  });

  it('counts the executed blocks before and after', async () => {
    const blind = await exploreMaze(false);
    equal(blind.find, null);
    equal(blind.kept, 0);
    equal(blind.blocks?.total, 5);
    ok(blind.blocks.after <= 3, `${blind.blocks.after} blocks are executed`);
  });

  it('observes all branches of a module', () => {
    equal(blocksOf(fileURLToPath(new URL('../support/maze.ts', import.meta.url))).length, 5);
  });

  it('generates the same input from the same random bytes', () => {
    const random = numbers();
    const first = new TapePlayer([], random);
    const value = doors.generate(new fc.Random(first), 5).value;
    const again = new TapePlayer([...first.played, 1, 2, 3], () => 0);
    deepEqual(doors.generate(new fc.Random(again), 5).value, value);
    deepEqual(again.played, first.played);
  });

  it('mutates random bytes within their limit', () => {
    const random = numbers();
    const pick = (max: number) => (random() >>> 0) % (max + 1);
    let tape = { words: [1, 2, 3], bias: undefined };
    for (let count = 0; count < 2_000; count++) {
      tape = changedTape(tape, { words: Array<number>(1_000).fill(7), bias: 3 }, pick) as typeof tape;
      ok(tape.words.length <= 8_192);
      ok(tape.words.every(Number.isInteger));
    }
  });
});

async function exploreMaze(isGuided: boolean): Promise<CampaignReport> {
  const stop = startCoverage();
  try {
    // Imports the module only now, because a module that is loaded before the measurement starts has no block counters.
    const { walk } = (await import(`../support/maze.ts?${isGuided}`)) as { walk(doors: readonly number[]): number };
    const target = defineTarget<readonly number[]>({
      name: 'maze',
      law: 'The end of the maze is not reached.',
      boundMs: 1_000,
      rooms: [maze],
      isGuided,
      inputs: doors,
      async open() {
        return {
          accept(input) {
            if (walk(input) === 4) throw new Error('at the end of the maze');
          },
          async close() {},
        };
      },
    });
    return await runCampaign(target, { limitMs: 50_000, maxExecutions: isGuided ? 50_000 : 3_000, seed: 1 });
  } finally {
    stop();
  }
}

/** A reproducible sequence of 32-bit integers. */
function numbers(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state;
  };
}
