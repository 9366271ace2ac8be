import { deepEqual } from 'node:assert/strict';
import { meters, offer, Reply } from '#contract';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/ai/llm/index.ts';

describe('the metrics of ai/llm', () => {
  it('count tokens by vendor and endpoint', async () => {
    const counted: unknown[] = [];
    const instrument = { add: (value: number, attributes: unknown) => counted.push([value, attributes]), record() {} };
    const make = () => instrument;
    const meter = { counter: make, upDownCounter: make, histogram: make };
    const config = { openai: { v1: { credentials: 'k', variables: { model: 'm' } } } };
    const gate = await openHarness(plugin, 'backend', config, {
      backend: { method: 'POST' },
      offers: [offer(meters, meter)],
      next: () => Reply.data({ usage: { total_tokens: 7 } }),
    });
    await gate.send({ method: 'POST', body: '{"contents":"hi"}' });
    deepEqual(counted, [[7, { vendor: 'openai', endpoint: '/test' }]]);
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });
});
