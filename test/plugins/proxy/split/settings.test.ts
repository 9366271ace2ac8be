import { deepEqual, equal, ok } from 'node:assert/strict';
import { Call, claimsSlot, makeRequest, meters, offer, PipeRequest, Query, Reply } from '#contract';
import { ConfigErrors } from '../../../../kernel/contract/internal.ts';
import { readValue } from '../../../../plugins/proxy/split/client-value.ts';
import { plugin } from '../../../../plugins/proxy/split/index.ts';
import { openHarness } from '../../../support/harness.ts';
import { holding, PROTOTYPE_NAMES } from '../../../support/prototype-names.ts';

const stable = { name: 'stable', backends: [0], weight: 90 };
const canary = { name: 'canary', backends: [1], weight: 10 };
const both = [stable, canary];

describe('proxy/split', () => {
  const endpoint = (fields: object = {}) => ({
    backend: [
      { url_pattern: '/v1', extra_config: {} },
      { url_pattern: '/v2', extra_config: {} },
      { url_pattern: '/v3', extra_config: { proxy: { shadow: true } } },
    ],
    ...fields,
  });
  const codeOf = async (config: unknown, fields: object = {}) => {
    try {
      const harness = await openHarness(plugin, 'endpoint', config, { endpoint: endpoint(fields) as never });
      const codes = harness.warnings.map(({ code }) => code).join();
      await harness.close();
      return codes;
    } catch (error) {
      if (!(error instanceof ConfigErrors)) throw error;
      return error.errors[0]!.code;
    }
  };

  it('is rejected if it has contradictory variants', async () => {
    equal(await codeOf({ variants: [stable, { ...canary, backends: [3] }] }), 'SPLIT_BACKEND');
    equal(await codeOf({ variants: [stable, { ...canary, backends: [2] }] }), 'SPLIT_BACKEND');
    equal(await codeOf({ variants: [stable, { ...canary, name: 'stable' }] }), 'SPLIT_NAME');
    equal(await codeOf({ variants: both.map((each) => ({ ...each, weight: 0 })) }), 'SPLIT_WEIGHTS');
    equal(
      await codeOf({ variants: [stable, { ...canary, backends: [0, 1] }] }, { output_encoding: 'no-op' }),
      'SPLIT_RAW',
    );
    equal(await codeOf({ variants: both, sticky: { strategy: 'cookie' } }), 'SPLIT_STICKY');
    equal(await codeOf({ variants: both, sticky: { strategy: 'header', key: 'not a header' } }), 'SPLIT_STICKY');
    equal(
      await codeOf({ variants: [stable, { ...canary, match: { strategy: 'header', key: 'a:b' } }] }),
      'SPLIT_STICKY',
    );
    equal(await codeOf({ variants: both }), '');
  });

  it('warns about a variant that no request is assigned to', async () => {
    equal(await codeOf({ variants: [stable, { ...canary, weight: 0 }] }), 'SPLIT_NEVER');
  });

  it('rejects hostile settings by schema', async () => {
    const hostile: unknown[] = [
      {},
      { variants: [] },
      { variants: [stable] },
      { variants: Array.from({ length: 17 }, (_, at) => ({ ...stable, name: `v${at}` })) },
      { variants: [stable, { ...canary, weight: -1 }] },
      { variants: [stable, { ...canary, weight: 1e300 }] },
      { variants: [stable, { ...canary, weight: '10' }] },
      { variants: [stable, { ...canary, backends: [] }] },
      { variants: [stable, { ...canary, backends: [-1] }] },
      { variants: [stable, { ...canary, backends: [0.5] }] },
      { variants: [stable, { ...canary, backends: ['length'] }] },
      { variants: [stable, { ...canary, name: 'a\nb' }] },
      { variants: both, sticky: { strategy: 'toString', key: 'a' } },
      { variants: both, seed: 7 },
      { variants: { length: 2 } },
      null,
      ...PROTOTYPE_NAMES.filter((name) => name !== '__proto__').map((name) => ({
        variants: both,
        ...holding(name, 1),
      })),
    ];
    for (const config of hostile) {
      const code = await codeOf(config);
      ok(code.startsWith('SCHEMA_'), `${JSON.stringify(config)}: ${code}`);
    }
  });

  it('reports its backends even if its settings are invalid', () => {
    for (const variants of [
      undefined,
      null,
      7,
      'x',
      {},
      [null],
      [[]],
      [{}],
      [{ backends: 'x' }],
      [{ backends: [{}, 'a'] }],
    ]) {
      deepEqual(plugin.meaning!({ variants } as never, 'endpoint'), { chooses: [] });
    }
    deepEqual(plugin.meaning!({ variants: both } as never, 'endpoint'), { chooses: [0, 1] });
  });

  it('counts requests by variant', async () => {
    const counted: unknown[] = [];
    const counter = () => ({ add: (_value: number, attributes?: object) => void counted.push(attributes) });
    const meter = { counter, upDownCounter: counter, histogram: () => ({ record() {} }) };
    const harness = await openHarness(
      plugin,
      'endpoint',
      {
        variants: [
          { ...stable, weight: 0 },
          { ...canary, weight: 1 },
        ],
      },
      { endpoint: endpoint({ endpoint: '/a' }) as never, offers: [offer(meters, meter)], next: () => Reply.data({}) },
    );
    await harness.send('GET /a');
    deepEqual(counted, [{ route: '/a', variant: 'canary' }]);
    await harness.close();
  });

  it('treats names of Object.prototype as plain names', () => {
    const client = makeRequest({ headers: undefined as never });
    const request = new PipeRequest(client, {}, new Query(), client.headers, null);
    const call = new Call();
    call.set(claimsSlot, { sub: 'ada', realm: { id: 7 }, 'https://a.example/tenant': 't' });
    const claim = (key: string) => readValue('claim', key)(request, call);
    deepEqual([claim('sub'), claim('realm.id'), claim('https://a.example/tenant')], ['ada', '7', 't']);
    for (const name of PROTOTYPE_NAMES) {
      equal(claim(name), '');
      equal(claim(`realm.${name}`), '');
      equal(readValue('header', name)(request, call), '');
      equal(readValue('cookie', name)(request, call), '');
    }
  });
});
