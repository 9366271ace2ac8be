import { deepEqual, equal, rejects } from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { atEndpoint, definePlugin } from '#contract';
import type { Operations } from '#kernel';
import { ConfigText } from '#kernel';

import { until } from '../../support/conditions.ts';
import { startGateway } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('the stored history of changes', () => {
  let gateway: Operations;
  afterEach(() => gateway.close());

  const config = (components: object, more: object = {}) => ({
    version: 3,
    endpoints: [
      { endpoint: '/a', backend: [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }], extra_config: components },
    ],
    ...more,
  });

  describe('keeps replaced configurations out of memory', () => {
    const sites: WeakRef<object>[] = [];
    /** A component that reports an issue whose closure references its own objects. */
    const plugin = definePlugin({
      name: 'test/talkative',
      description: 'Warns, or refuses.',
      places: [
        atEndpoint(
          { type: 'object', properties: { refuses: { type: 'boolean', description: 'It does.', default: false } } },
          (site) => {
            class Builder {
              readonly site = site;
              build() {
                sites.push(new WeakRef(this));
                if (site.config.refuses) throw site.fault('TEST_FAULT', '', 'refused', new Error('why'));
                site.warn('TEST_WARNING', '', 'odd');
                return {};
              }
            }
            return new Builder().build();
          },
        ),
      ],
    });

    beforeEach(async () => {
      sites.length = 0;
      gateway = await startWith([plugin], config({}));
    });

    for (const [of, refuses] of [
      ['warnings', false],
      ['rejections', true],
    ] as const) {
      it(`even if it contains their ${of}`, async () => {
        const change = gateway.reload(config({ 'test/talkative': { refuses } })).catch(() => {});
        await change;
        await gateway.reload(config({}, { name: 'next' }));
        await gateway.reload(config({}, { name: 'the one after' }));
        // Two builds are counted, because a rejected configuration is built once more to report all its errors.
        equal(sites.length, refuses ? 2 : 1);
        await until(() => {
          collect();
          return sites.every((site) => site.deref() === undefined);
        });
      });
    }
  });

  it('contains at most as many errors of a rejection as a response does, and the number of the others', async () => {
    gateway = await startGateway(config({}));
    const endpoints = Array.from({ length: 1_000 }, (_, at) => ({ endpoint: `/${at}`, nope: 1 }));
    const source = new ConfigText(JSON.stringify({ version: 3, endpoints }), 'json');
    await rejects(gateway.apply({ trigger: 'api', source }));
    const { problem } = gateway.attempts.list[0]!;
    deepEqual([problem!.issues.length, problem!.hidden], [200, 1_800]);
  });
});
