import { deepEqual, equal, ok } from 'node:assert/strict';
import {
  atEndpoint,
  atService,
  type BackendConnection,
  connectionObservers,
  definePlugin,
  defineSlot,
  type Meter,
  type MeterAttributes,
  meterOf,
  meters,
  offer,
} from '#contract';
import type { Gateway } from '../../../kernel/index.ts';
import { openHarness } from '../../../kernel/testing/index.ts';
import { until } from '../../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

const nothing = { type: 'object', properties: {} } as const;

/** Series by name and attributes. */
type Series = Map<string, number[]>;

function remembering(series: Series): Meter {
  const instrument =
    (name: string) =>
    (value: number, attributes: MeterAttributes = {}) => {
      const key = `${name} ${JSON.stringify(attributes)}`;
      series.set(key, [...(series.get(key) ?? []), value]);
    };
  return {
    counter: (name) => ({ add: instrument(name) }),
    upDownCounter: (name) => ({ add: instrument(name) }),
    histogram: (name) => ({ record: instrument(name) }),
  };
}

/** Exports the measurements of all components. */
function exporter(name: string, series: Series) {
  return definePlugin({
    name,
    description: 'Exports measurements.',
    offers: [meters],
    places: [
      atService(nothing, ({ keep }) => ({
        offers: [
          offer(
            meters,
            keep('meter', () => remembering(series)),
          ),
        ],
      })),
    ],
  });
}

/** Measures the requests of an endpoint, if an exporter exists. */
const measuring = definePlugin({
  name: 'test/measuring',
  description: 'Measures requests.',
  takes: [meters],
  places: [
    atEndpoint(nothing, (site) => {
      const meter = meterOf(site);
      if (!meter) return {};
      const route = { route: site.endpoint.endpoint };
      const active = meter.upDownCounter('requests.active', { description: 'Requests on their way.' });
      const sizes = meter.histogram('request.size', { description: 'Bodies.', unit: 'By', bounds: [1, 10] });
      const statuses = meter.counter('requests', { description: 'Requests.' });
      return {
        endpoint: (next) => async (request, call) => {
          active.add(1, route);
          sizes.record(request.body?.length ?? 0, route);
          try {
            const reply = await next(request, call);
            statuses.add(1, { ...route, status: reply.status });
            return reply;
          } finally {
            active.add(-1, route);
          }
        },
      };
    }),
  ],
});

describe('metrics of a component', () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;
  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(() => gateway?.close());

  const expected = {
    'requests.active {"route":"/a"}': [1, -1],
    'request.size {"route":"/a"}': [0],
    'requests {"route":"/a","status":200}': [1],
  };
  const config = (...exporters: string[]) => ({
    version: 3,
    extra_config: Object.fromEntries(exporters.map((name) => [name, {}])),
    endpoints: [
      { endpoint: '/a', extra_config: { 'test/measuring': {} }, backend: [{ host: [backend.url], url_pattern: '/' }] },
    ],
  });

  it('are sent to every exporter', async () => {
    const [one, two]: [Series, Series] = [new Map(), new Map()];
    gateway = await startWith(
      [exporter('test/one', one), exporter('test/two', two), measuring],
      config('test/one', 'test/two'),
    );
    await gateway.inject({ url: '/a' });
    deepEqual(Object.fromEntries(one), expected);
    deepEqual(two, one);
  });

  it('continue in the same series after a reload', async () => {
    const series: Series = new Map();
    gateway = await startWith([exporter('test/one', series), measuring], config('test/one'));
    await gateway.inject({ url: '/a' });
    await gateway.reload({ ...config('test/one'), timeout: '3s' });
    await gateway.inject({ url: '/a' });
    deepEqual(series.get('requests {"route":"/a","status":200}'), [1, 1]);
  });

  it('are not recorded without an exporter', async () => {
    const gate = await openHarness(measuring, 'endpoint', {});
    deepEqual(gate.attached, {});
    await gate.close();
  });

  it('can be tested with a meter that the test provides', async () => {
    const series: Series = new Map();
    const gate = await openHarness(measuring, 'endpoint', {}, { offers: [offer(meters, remembering(series))] });
    await gate.send('GET /');
    deepEqual(series.get('requests.active {"route":"/test"}'), [1, -1]);
    await gate.close();
  });
});

/** Name of the span that a plugin has set around the backend of a connection. */
const spanSlot = defineSlot<string>('test span');

describe('an observer of connections to backends', () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;
  const seen: (BackendConnection & { span: string | undefined; target: string })[] = [];
  const replies: number[] = [];

  /** Observes every backend request and how it obtained its connection. */
  const tracing = definePlugin({
    name: 'test/tracing',
    description: 'Traces requests to backends.',
    offers: [connectionObservers],
    places: [
      atService(nothing, () => ({
        offers: [
          offer(connectionObservers, {
            connected(connection, { target }, call) {
              seen.push({ ...connection, span: call.get(spanSlot), target });
              if (target === '/fail') throw new Error('tracer');
            },
            responded: (ms) => replies.push(ms),
          }),
        ],
        eachBackend: ({ index }) => ({
          transport: (next) => (request, call) => next(request, call.with(spanSlot, `span ${index}`)),
        }),
      })),
    ],
  });

  before(async () => {
    backend = await startBackend(({ target }, response) => {
      if (target === '/moved') response.writeHead(302, { location: '/here' }).end();
      else response.setHeader('content-type', 'application/json').end('{"a":1}');
    });
  });
  after(() => backend.close());
  beforeEach(() => {
    seen.length = 0;
    replies.length = 0;
  });
  afterEach(() => gateway?.close());

  const start = async (...targets: string[]) => {
    const host = [backend.url.replace('127.0.0.1', 'localhost')];
    gateway = await startWith([tracing], {
      extra_config: { 'test/tracing': {} },
      endpoints: targets.map((target, index) => ({
        endpoint: `/${index}`,
        backend: [{ host, url_pattern: target }],
      })),
    });
  };

  it('receives the duration of name resolution and connection, and whether a connection was reused', async () => {
    await start('/a');
    const ask = async () => equal((await gateway!.inject({ url: '/0' })).statusCode, 200);
    await ask();
    const [first] = seen;
    deepEqual([first!.reused, first!.span, first!.target], [false, 'span 0', '/a']);
    const { dnsMs, connectMs, tlsMs } = first!.opened!;
    ok(dnsMs > 0 && connectMs > 0, `name ${dnsMs}, connection ${connectMs}`);
    equal(tlsMs, 0);
    ok(first!.waitMs >= dnsMs + connectMs, `${first!.waitMs}`);
    // Repeats the request, because the client can open a second connection before the first one is free again.
    await until(async () => {
      await ask();
      return seen.at(-1)!.reused === true;
    });
    equal(seen.at(-1)!.opened, null);
    equal(replies.length, seen.length);
    ok(replies.every((ms) => ms > 0));
  });

  it('receives every request of a redirect', async () => {
    await start('/moved');
    equal((await gateway!.inject({ url: '/0' })).statusCode, 200);
    deepEqual(
      seen.map(({ target }) => target),
      ['/moved', '/here'],
    );
  });

  it('does not fail requests if the observer throws', async () => {
    await start('/fail');
    equal((await gateway!.inject({ url: '/0' })).statusCode, 200);
    equal(replies.length, 1);
  });

  it('can be tested without a socket', async () => {
    const gate = await openHarness(tracing, 'service', {});
    equal((await gate.send('GET /')).status, 200);
    deepEqual([seen.length, seen[0]!.reused, replies], [1, false, [0]]);
    await gate.close();
  });
});
