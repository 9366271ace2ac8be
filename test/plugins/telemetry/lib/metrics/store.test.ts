import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { atService, definePlugin } from '#contract';
import { type Harness, openHarness } from '../../../../../kernel/testing/index.ts';
import { exposition } from '../../../../../plugins/telemetry/lib/metrics/prometheus.ts';
import { gatewayMetrics } from '../../../../../plugins/telemetry/lib/metrics/relay.ts';
import { MetricStore } from '../../../../../plugins/telemetry/lib/metrics/store.ts';
import { until } from '../../../../support/conditions.ts';
import { readMetrics } from '../../../../support/prometheus.ts';

const shown = (...stores: MetricStore[]) => readMetrics([...exposition(stores, { service: 'x' })].join(''));

describe('a metrics store', () => {
  it('has one series for equal attributes, in any order', () => {
    const store = new MetricStore();
    const counter = store.counter('a.b', { description: 'B.' });
    counter.add(1, { x: 1, y: 'z' });
    counter.add(2, { y: 'z', x: 1 });
    store.counter('a.b', { description: 'B.' }).add(3, { x: 1, y: 'z' });
    equal(shown(store).value('a_b_total', { x: '1', y: 'z' }), 6);
  });

  it('sorts values into histogram buckets with inclusive upper bounds', () => {
    const store = new MetricStore();
    const histogram = store.histogram('h', { description: 'H.', bounds: [1, 2, 4] });
    for (const value of [0, 1, 1.5, 2, 4, 5, Number.NaN, Number.POSITIVE_INFINITY]) histogram.record(value);
    const [series] = shown(store).series('h');
    deepEqual(series!.buckets, { '1': 2, '2': 4, '4': 5, '+Inf': 6 });
    deepEqual([series!.value, series!.sum], [6, 13.5]);
  });

  it('counts up and down', () => {
    const store = new MetricStore();
    const active = store.upDownCounter('active', { description: 'A.' });
    active.add(2);
    active.add(-1);
    const { types, value } = shown(store);
    deepEqual([types.get('active'), value('active')], ['gauge', 1]);
  });

  it('limits the number of series, and counts all others in one overflow series', () => {
    const store = new MetricStore(10);
    const counter = store.counter('c', { description: 'C.' });
    for (let value = 0; value < 1000; value++) counter.add(1, { id: value });
    const { series, value } = shown(store);
    equal(series('c_total').length, 11);
    equal(value('c_total', { otel_metric_overflow: 'true' }), 990);
  });

  it('accepts any attribute name and value', () => {
    const store = new MetricStore();
    const attributes = Object.fromEntries([
      ['__proto__', 'p'],
      ['a.b', 'x'],
      ['a-b', 'y'],
      ['1st', '"quoted" \\ \n line'],
    ]);
    store.counter('c', { description: 'first\nsecond \\' }).add(1, attributes);
    const scraped = shown(store);
    const [series] = scraped.series('c_total');
    equal(series!.labels['a_b'], 'x;y');
    match(scraped.text, /_1st="\\"quoted\\" \\\\ \\n line"/);
    match(scraped.text, /^# HELP c_total first\\nsecond \\\\$/m);
  });

  it('exposes the series of several stores under one name', () => {
    const [one, two] = [new MetricStore(), new MetricStore()];
    one.counter('c', { description: 'C.' }).add(1, { of: 'one' });
    two.counter('c', { description: 'C.' }).add(2, { of: 'two' });
    const { text, value } = shown(one, two);
    equal(text.match(/# TYPE c_total/g)?.length, 1);
    deepEqual([value('c_total', { of: 'one' }), value('c_total', { of: 'two' })], [1, 2]);
  });

  it('is printed in pieces, between which other work can run', () => {
    const store = new MetricStore();
    const counter = store.counter('c', { description: 'C.' });
    for (let value = 0; value < 1000; value++) counter.add(1, { id: value });
    const pieces = [...exposition([store], {})];
    ok(pieces.length > 5);
    equal(readMetrics(pieces.join('')).series('c_total').length, 1000);
  });
});

describe('the metrics of a gateway with workers', () => {
  const stores: MetricStore[] = [];
  const plugin = definePlugin({
    name: 'test/metrics',
    description: 'Measures.',
    places: [
      atService({ type: 'object', properties: {} }, (site) => {
        const store = gatewayMetrics(site, 'metrics', () => {
          const made = new MetricStore();
          made.gauge('memory', { description: 'M.' }, () => 5);
          made.gauge('start', { description: 'S.', combination: 'min' }, () => 7);
          return made;
        });
        stores.push(store);
        return {};
      }),
    ],
  });
  const testbeds: Harness[] = [];
  afterEach(async () => {
    for (const one of testbeds.splice(0).reverse()) await one.close();
    stores.length = 0;
  });

  it('are the sum of all workers in one store, including the last counts of a worker that exited', async () => {
    const owner = await openHarness(plugin, 'service', {}, { role: 'owner' });
    testbeds.push(owner);
    const workers = [
      await openHarness(plugin, 'service', {}, { owner }),
      await openHarness(plugin, 'service', {}, { owner }),
    ];
    const [all, ...own] = stores as [MetricStore, MetricStore, MetricStore];
    for (const store of own) {
      store.counter('c', { description: 'C.' }).add(2, { a: 1 });
      store.histogram('h', { description: 'H.', bounds: [1] }).record(3);
    }
    await until(() => shown(all).value('c_total') === 4);
    own[0]!.counter('c', { description: 'C.' }).add(1, { a: 1 });
    for (const worker of workers) deepEqual(await worker.close(), { kept: 0, deferred: 0 });
    const { value, series } = shown(all);
    equal(value('c_total', { a: '1' }), 5);
    deepEqual(series('h')[0]!.buckets, { '1': 0, '+Inf': 2 });
    deepEqual([value('memory'), value('start')], [15, 7]);
  });

  it('count a report once if a worker sends it twice because the response was lost, and count later reports', async () => {
    const sent: unknown[] = [];
    let fails = true;
    const store = new MetricStore();
    const runs: (() => Promise<void>)[] = [];
    const answered: unknown[] = [];
    const site = {
      role: 'worker' as const,
      keep: <T>(_key: unknown, open: () => T) => open(),
      share: (_key: unknown, _open: unknown, use: (value: never, requested: never) => unknown) => {
        const owned = { value: store, last: new Map() } as never;
        return async (message: unknown) => {
          sent.push(message);
          answered.push(use(owned, structuredClone(message) as never));
          if (fails) throw new Error('the answer is lost');
          return null;
        };
      },
      start: () => {},
      defer: (run: () => Promise<void>) => void runs.push(run),
    };
    const own = gatewayMetrics(site as never, 'metrics');
    own.counter('c', { description: 'C.' }).add(3);
    await runs[0]!();
    own.counter('c', { description: 'C.' }).add(4);
    await runs[0]!();
    fails = false;
    await runs[0]!();
    equal(shown(store).value('c_total'), 3);
    await runs[0]!();
    equal(shown(store).value('c_total'), 7);
    equal(sent.length, 4);
  });
});
