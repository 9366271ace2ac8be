import { deepEqual, equal } from 'node:assert/strict';
import { atEndpoint, atService, before as beforeRequest, definePlugin, definePort, offer, Reply } from '#contract';
import type { Gateway } from '../../../kernel/index.ts';
import { until } from '../../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

/** A store with a counter, similar to Redis. */
interface Store {
  count(key: string): number;
}

const storePort = definePort<Store>('test store');
const rulePort = definePort<(text: string) => boolean>('test rules', { from: 'test/rules' });
const nothing = { type: 'object', properties: {} } as const;

/** Events of opening and closing, by address. */
let events: string[];

/** A configured service: a connection to a store. */
const store = definePlugin({
  name: 'test/store',
  description: 'A connection to a store.',
  offers: [storePort],
  places: [
    atService(
      {
        type: 'object',
        required: ['address'],
        properties: {
          address: { type: 'string', description: 'Where it is.' },
          prefix: { type: 'string', description: 'Of every key.', default: '' },
        },
      },
      ({ config: { address, prefix }, keep }) => {
        const connection = keep(
          { address },
          () => {
            events.push(`open ${address}`);
            return { counts: new Map<string, number>() };
          },
          () => {
            events.push(`close ${address}`);
          },
        );
        const count = (key: string): number => {
          const total = (connection.counts.get(prefix + key) ?? 0) + 1;
          connection.counts.set(prefix + key, total);
          return total;
        };
        return { offers: [offer(storePort, { count })] };
      },
    ),
  ],
});

/** A component that returns the number of its calls. */
const counter = definePlugin({
  name: 'test/counter',
  description: 'Counts calls in a store.',
  takes: [storePort],
  places: [
    atEndpoint(nothing, ({ take, endpoint, fault }) => {
      const taken = take(storePort);
      if (!taken) throw fault('COUNTER_STORE', '', 'there is no store', { hint: '"test/store" at the root' });
      return { endpoint: beforeRequest(() => Reply.data({ calls: taken.count(endpoint.endpoint) })) };
    }),
  ],
});

/** An engine that needs no configuration. */
const rules = definePlugin({
  name: 'test/rules',
  description: 'Understands rules.',
  offers: [rulePort],
  places: [
    atService(
      { type: 'object', properties: { word: { type: 'string', description: 'That passes.', default: 'open' } } },
      ({ config: { word } }) => {
        events.push(`rules ${word}`);
        return { offers: [offer(rulePort, (text) => text === word)] };
      },
    ),
  ],
});

const door = definePlugin({
  name: 'test/door',
  description: 'Lets in what a rule allows.',
  takes: [rulePort],
  places: [
    atEndpoint(nothing, ({ take }) => {
      const allows = take(rulePort)!;
      return { endpoint: beforeRequest(({ search }) => Reply.data({ passes: allows(search) })) };
    }),
  ],
});

describe('a service of a plugin that is configured at the root', () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  beforeEach(() => {
    events = [];
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const endpoint = (path: string, extra: object) => ({
    endpoint: path,
    extra_config: extra,
    backend: [{ host: [backend.url], url_pattern: '/' }],
  });
  const counting = (root: object) => ({
    version: 3,
    extra_config: root,
    endpoints: [endpoint('/a', { 'test/counter': {} })],
  });
  const calls = async () => (await gateway!.inject('/a')).json().calls;
  const reload = (config: object) => gateway!.reload(config);

  it('keeps its connection over reloads if its address is unchanged', async () => {
    gateway = await startWith([store, counter], counting({ 'test/store': { address: 'a' } }));
    equal(await calls(), 1);
    await reload({ ...counting({ 'test/store': { address: 'a' } }), timeout: '9s' });
    deepEqual([await calls(), events], [2, ['open a']]);
  });

  it('can change other settings while it stays connected', async () => {
    gateway = await startWith([store, counter], counting({ 'test/store': { address: 'a' } }));
    equal(await calls(), 1);
    await reload(counting({ 'test/store': { address: 'a', prefix: 'b:' } }));
    deepEqual([await calls(), events], [1, ['open a']]);
  });

  it('is closed when its address changes, after the connection to the new address is open', async () => {
    gateway = await startWith([store, counter], counting({ 'test/store': { address: 'a' } }));
    await reload(counting({ 'test/store': { address: 'b' } }));
    equal(await calls(), 1);
    await until(() => events.length === 3);
    deepEqual(events, ['open a', 'open b', 'close a']);
  });

  it('is closed when the gateway closes', async () => {
    gateway = await startWith([store, counter], counting({ 'test/store': { address: 'a' } }));
    await gateway.close();
    deepEqual(events, ['open a', 'close a']);
  });

  it('is reported as missing by its users if it is not configured', async () => {
    gateway = await startWith([store, counter], counting({ 'test/store': { address: 'a' } }));
    const refusal = await reload(counting({})).then(
      () => null,
      (error) => error,
    );
    deepEqual(
      refusal.errors.map(({ code, pointer }: { code: string; pointer: string }) => [code, pointer]),
      [['COUNTER_STORE', '/endpoints/0/extra_config/test~1counter']],
    );
    deepEqual([await calls(), events], [1, ['open a']]);
  });

  describe('and needs no configuration', () => {
    const guarded = (root: object) => ({
      extra_config: root,
      endpoints: [endpoint('/a', { 'test/door': {} }), endpoint('/b', { 'test/door': {} })],
    });
    const passes = async (word: string) => (await gateway!.inject(`/b?${word}`)).json().passes;

    it('is available once with defaults to all its users', async () => {
      gateway = await startWith([rules, door], guarded({}));
      deepEqual([await passes('open'), await passes('shut'), events], [true, false, ['rules open']]);
    });
    it('knows whether the configuration contains it', async () => {
      const known: boolean[] = [];
      const knowing = definePlugin({
        ...rules,
        places: [
          atService(nothing, ({ isNamed }) => {
            known.push(isNamed);
            return { offers: [offer(rulePort, () => true)] };
          }),
        ],
      });
      gateway = await startWith([knowing, door], guarded({}));
      await gateway.reload({ version: 3, ...guarded({ 'test/rules': {} }) });
      deepEqual(known, [false, true]);
    });
    it('is configured under its name at the root', async () => {
      gateway = await startWith([rules, door], guarded({ 'test/rules': { word: 'shut' } }));
      deepEqual([await passes('open'), await passes('shut'), events], [false, true, ['rules shut']]);
    });
    it('is not created if no component uses it', async () => {
      gateway = await startWith([rules, door], { endpoints: [endpoint('/a', {})] });
      deepEqual(events, []);
    });
  });
});
