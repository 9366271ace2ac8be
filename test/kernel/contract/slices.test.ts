import { equal } from 'node:assert/strict';
import { mock } from 'node:test';
import { Slices } from '../../../kernel/contract/internal.ts';

describe('long work in slices', () => {
  let now = 0;
  beforeEach(() => {
    now = 1000;
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => mock.reset());

  it('has its stretch over after four milliseconds, and a new one after the turn of the others', async () => {
    const slices = new Slices();
    now += 4;
    equal(slices.over, false);
    now += 1;
    equal(slices.over, true);
    let hadTurn = false;
    setImmediate(() => {
      hadTurn = true;
    });
    await slices.next();
    equal(hadTurn, true);
    equal(slices.over, false);
  });
});
