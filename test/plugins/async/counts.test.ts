import { deepEqual } from 'node:assert/strict';
import { atAgent, definePlugin, type Meter, meters, offer } from '#contract';
import { openHarness } from '../../../kernel/testing/index.ts';
import type { Consuming } from '../../../plugins/async/lib/driver.ts';
import { runAgent } from '../../../plugins/async/lib/run-agent.ts';
import { until } from '../../support/conditions.ts';

describe('the metrics of an async agent', () => {
  it('count messages by outcome, and messages dropped before processing', async () => {
    let consuming: Consuming | undefined;
    const driver = definePlugin({
      name: 'test/queue',
      description: 'Consumes a queue in memory.',
      takes: [meters],
      places: [
        atAgent({ type: 'object', properties: {} }, (site) =>
          runAgent(site, 'memory', () => ({
            async connect(given) {
              consuming = given;
              return { ended: new Promise<Error>(() => {}), stop: async () => {}, close: async () => {} };
            },
          })),
        ),
      ],
    });
    const counted: string[] = [];
    const count = (name: string) => ({
      add(times: number, attributes: Record<string, unknown> = {}) {
        counted.push(`${name} ${attributes['agent']} ${attributes['outcome']} ${times}`);
      },
    });
    const meter: Meter = { counter: count, upDownCounter: count, histogram: () => ({ record() {} }) };
    const gate = await openHarness(driver, 'agent', {}, { offers: [offer(meters, meter)] });
    await until(() => consuming !== undefined);
    await consuming!.handle({ body: Buffer.from('one') });
    consuming!.discarded();
    consuming!.discarded(3);
    deepEqual(
      counted,
      ['done 1', 'discarded 1', 'discarded 3'].map((line) => `agent.messages test ${line}`),
    );
    await gate.close();
  });
});
