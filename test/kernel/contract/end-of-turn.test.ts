import { deepEqual, equal } from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { atEndOfTurn } from '#contract';

describe('the end of a turn of the event loop', () => {
  it('runs the functions that wait for it in order, once', async () => {
    const seen: number[] = [];
    for (const number of [1, 2, 3]) atEndOfTurn(() => seen.push(number));
    deepEqual(seen, []);
    await turn();
    deepEqual(seen, [1, 2, 3]);
    await turn();
    deepEqual(seen, [1, 2, 3]);
  });

  it('comes immediately if many functions are waiting', async () => {
    let runs = 0;
    for (let number = 0; number < 16; number += 1) atEndOfTurn(() => (runs += 1));
    equal(runs, 16);
    await turn();
    equal(runs, 16);
  });

  it('runs the other functions if one throws', async () => {
    const others = process.rawListeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve));
    let runs = 0;
    atEndOfTurn(() => {
      throw new Error('mine');
    });
    atEndOfTurn(() => (runs += 1));
    await turn();
    equal(runs, 1);
    equal(((await uncaught) as Error).message, 'mine');
    for (const listener of others) process.on('uncaughtException', listener as () => void);
  });
});
