import { equal } from 'node:assert/strict';
import { MessageRate } from '../../../../kernel/registry/isolation/message-rate.ts';

describe('messages of an isolated plugin', () => {
  it('are not limited if they belong to answered requests', () => {
    const rate = new MessageRate(0);
    let isFlood = false;
    for (let request = 0; request < 100_000; request++) {
      for (const isAnswer of [false, false, true]) isFlood ||= !rate.add(request / 1000, isAnswer);
    }
    equal(isFlood, false);
  });

  it('count as a flood if more than 20,000 in one second answer no request', () => {
    const rate = new MessageRate(0);
    for (let message = 1; message < 20_000; message++) equal(rate.add(500, false), true);
    equal(rate.add(999, false), false);
    equal(rate.add(1000, false), true);
  });
});
