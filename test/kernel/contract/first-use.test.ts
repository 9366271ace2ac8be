import { deepEqual, equal, rejects } from 'node:assert/strict';
import { FirstUse } from '#contract';

describe('a value that is created at first use', () => {
  it('is created once for all callers', async () => {
    let made = 0;
    const use = new FirstUse(async () => ++made);
    equal(await use.made(), null);
    deepEqual(await Promise.all([use.get(), use.get(), use.get()]), [1, 1, 1]);
    deepEqual([await use.get(), await use.made()], [1, 1]);
  });

  it('is created again after a failure, which all waiting callers receive', async () => {
    const reasons = ['EMFILE', 'ENFILE'];
    const use = new FirstUse(async () => {
      const reason = reasons.shift();
      if (reason !== undefined) throw new Error(reason);
      return 'made';
    });
    const callers = [use.get(), use.get()];
    equal(await use.made(), null);
    for (const caller of callers) await rejects(caller, /EMFILE/);
    await rejects(use.get(), /ENFILE/);
    equal(await use.get(), 'made');
  });
});
