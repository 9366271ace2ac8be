import { deepEqual } from 'node:assert/strict';
import { type DispatchFunc, inject } from 'light-my-request';
import { openEngine } from '../../../kernel/control/engine.ts';
import { createEventLog } from '../../../kernel/control/event-log.ts';
import { Phases } from '../../../kernel/runtime/build/phases.ts';
import { readConfig } from '../../../kernel/runtime/build/read-config.ts';
import { ReadFiles } from '../../../kernel/runtime/prints/read-files.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { catalogue } from '../../../plugins/index.ts';

describe('a value that workers share', () => {
  it('is requested for the configuration that serves the request, even after that was replaced', async () => {
    const asked: number[] = [];
    const { generations, registry } = openEngine(catalogue, {
      sinks: silentSinks,
      events: createEventLog(),
      ask: async (revision) => {
        asked.push(revision);
        return 60_000;
      },
    });
    const normalized = await readConfig(
      {
        version: 3,
        endpoints: [
          {
            endpoint: '/a',
            backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }],
            extra_config: { 'qos/ratelimit/router': { max_rate: 1 } },
          },
        ],
      },
      {},
      registry,
    );
    const use = async (revision: number) => {
      const prepared = await generations.prepare(normalized, new ReadFiles(), revision, new Phases(), true);
      prepared.commit();
      return generations.current;
    };
    const first = await use(1);
    const second = await use(2);
    for (const { serve } of [first, second]) await inject(serve as unknown as DispatchFunc, '/a');
    deepEqual(asked, [1, 2]);
    await generations.close();
    await registry.close();
  });
});
