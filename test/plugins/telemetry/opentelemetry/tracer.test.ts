import { deepEqual, equal, ok } from 'node:assert/strict';
import {
  type ActiveSpan,
  atEndpoint,
  atService,
  type Call,
  definePlugin,
  type Plugin,
  type Tracer,
  tracerOf,
  tracers,
} from '#contract';
import { until } from '../../../support/conditions.ts';
import { moduleOf } from '../../../support/modules.ts';
import type { ReceivedSpan, Receiver } from '../../../support/otlp.ts';
import { Stage } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: what handlers get is not typed in JavaScript
type Loose = any;

const nothing = { type: 'object', properties: {} } as const;

describe('the spans of components', () => {
  const stage = new Stage();
  let receiver: Receiver;
  beforeEach(async () => {
    await stage.startBackend();
    receiver = await stage.httpReceiver();
  });
  afterEach(() => stage.close());

  const start = (plugins: readonly Plugin[], root: Record<string, unknown>, telemetry: Record<string, unknown> = {}) =>
    stage.start(
      {
        exporters: {
          prometheus: [],
          otlp: [{ name: 'c', host: '127.0.0.1', port: receiver.port, use_http: true, disable_metrics: true }],
        },
        ...telemetry,
      },
      root,
      { plugins } as Loose,
    );
  const spanNamed = async (name: string): Promise<ReceivedSpan> => {
    await until(() => receiver.spans.some((span) => span.name === name));
    return receiver.spans.find((span) => span.name === name)!;
  };
  const byStage = (name: string) => receiver.spans.find(({ attributes }) => attributes['krakend.stage'] === name)!;

  /** A plugin that uses its tracer around the proxy of an endpoint or around the endpoint. */
  const native = (
    use: (tracer: Tracer, call: Call) => ActiveSpan,
    phase: 'endpoint' | 'proxy' = 'proxy',
    seen: unknown[] = [],
  ): Plugin =>
    definePlugin({
      name: 'acme/traced',
      description: 'Traces.',
      takes: [tracers],
      places: [
        atService(nothing, () => ({})),
        atEndpoint(nothing, (site) => {
          const tracer = tracerOf(site);
          seen.push(tracer === null);
          if (!tracer) return {};
          return {
            [phase]: (next: Loose) => (request: unknown, call: Call) => next(request, use(tracer, call).call),
          };
        }),
      ],
    });
  const traced = (more: object = {}) => ({
    endpoints: [stage.endpoint({ extra_config: { 'acme/traced': {} }, ...more })],
  });

  it('are children of the surrounding span, and parents of the spans of inner calls', async () => {
    await start(
      [
        native((tracer, call) => {
          const span = tracer.start(call, 'lookup', { 'acme.key': 'a' });
          span.set({ 'acme.hits': 3, 'acme.fresh': true });
          span.event('asked');
          span.fail('gone');
          call.onEnd(() => span.end());
          return span;
        }),
      ],
      traced(),
    );
    equal(await stage.ask('/u/1'), 200);
    const span = await spanNamed('lookup');
    await until(() => receiver.spans.length >= 6);
    const [global, proxy, backend] = ['global', 'proxy', 'backend'].map(byStage) as [
      ReceivedSpan,
      ReceivedSpan,
      ReceivedSpan,
    ];
    equal(span.traceId, global.traceId);
    deepEqual([span.parentSpanId, backend.parentSpanId], [proxy.spanId, span.spanId]);
    deepEqual(span.attributes, { 'acme.key': 'a', 'acme.hits': 3, 'acme.fresh': true });
    equal(span.kind, 'SPAN_KIND_INTERNAL');
  });

  it('around an endpoint belong to the trace of the endpoint', async () => {
    await start(
      [
        native((tracer, call) => {
          const span = tracer.start(call, 'early');
          span.end();
          return span;
        }, 'endpoint'),
      ],
      traced(),
    );
    await stage.ask('/u/1');
    const span = await spanNamed('early');
    await until(() => byStage('global') !== undefined);
    deepEqual([span.traceId, span.parentSpanId], [byStage('global').traceId, byStage('global').spanId]);
  });

  it('end with their request at the latest', async () => {
    await start([native((tracer, call) => tracer.start(call, 'open'))], traced());
    await stage.ask('/u/1');
    const span = await spanNamed('open');
    ok(span.end >= span.start);
  });

  it('are limited in number, attributes and lengths', async () => {
    await start(
      [
        native((tracer, call) => {
          for (let at = 0; at < 300; at++) tracer.start(call, 'many').end();
          return tracer.start(call, 'beyond');
        }),
        definePlugin({
          ...native((tracer, call) => {
            const span = tracer.start(call, 'wide', { long: 'x'.repeat(5000), bad: Number.NaN, none: null as never });
            for (let at = 0; at < 100; at++) {
              span.set({ [`a${at}`]: at });
              span.event('again');
            }
            return span;
          }),
          name: 'acme/wide',
        }),
      ],
      {
        endpoints: [
          stage.endpoint({ extra_config: { 'acme/traced': {} } }),
          stage.endpoint({ endpoint: '/w', extra_config: { 'acme/wide': {} } }, { url_pattern: '/w' }),
        ],
      },
    );
    await stage.ask('/u/1');
    await stage.ask('/w');
    const wide = await spanNamed('wide');
    equal(Object.keys(wide.attributes).length, 64);
    equal(String(wide.attributes['long']).length, 1024);
    ok(!('bad' in wide.attributes) && !('none' in wide.attributes));
    equal(receiver.spans.filter(({ name }) => name === 'many').length, 128);
    equal(receiver.spans.filter(({ name }) => name === 'beyond').length, 0);
  });

  it('of traces that are not recorded are null', async () => {
    await start([native((tracer, call) => tracer.start(call, 'unseen'))], traced(), { trace_sample_rate: 0 });
    equal(await stage.ask('/u/1'), 200);
    await stage.gateway.close();
    equal(receiver.spans.length, 0);
  });

  it('need no tracer if traces are not exported', async () => {
    const seen: unknown[] = [];
    await stage.start({}, traced(), {
      plugins: [native((tracer, call) => tracer.start(call, 'none'), 'proxy', seen)],
    } as Loose);
    equal(await stage.ask('/u/1'), 200);
    deepEqual(seen, [true]);
  });

  const middleware = (handler: (host: Loose) => unknown) =>
    moduleOf({ name: 'traced', middleware: (_config: unknown, host: Loose) => handler(host) });
  const named = () => traced({ extra_config: { 'plugin/middleware': { name: ['traced'] } } });

  it('can be created by modules through their host, within a request', async () => {
    const handler = (host: Loose) => async (ctx: Loose, _request: Loose, next: Loose) => {
      const span = host.tracer.start(ctx, 'module', { 'acme.a': 1 });
      span.event('before');
      const response = await next();
      span.end();
      span.set({ late: true });
      return response;
    };
    await start([middleware(handler)], named());
    await stage.ask('/u/1');
    const span = await spanNamed('module');
    await until(() => byStage('proxy') !== undefined);
    deepEqual([span.parentSpanId, span.attributes], [byStage('proxy').spanId, { 'acme.a': 1 }]);
  });

  it('can be created by modules at the root, within a request', async () => {
    const server = moduleOf({
      name: 'outer',
      httpServer: (_config: unknown, host: Loose) => async (request: Loose, next: Loose) => {
        const span = host.tracer.start(request, 'around');
        const response = await next();
        span.end();
        return response;
      },
    });
    await start([server], { extra_config: { 'plugin/http-server': { name: ['outer'] } } });
    await stage.ask('/u/1');
    const span = await spanNamed('around');
    await until(() => byStage('global') !== undefined);
    equal(span.parentSpanId, byStage('global').spanId);
  });

  it('of modules have no cost if traces are not exported, and otherwise require a context', async () => {
    const handler = (host: Loose) => async () => {
      let message = 'none';
      try {
        host.tracer.start({}, 'module').end();
      } catch (error) {
        ({ message } = error as Error);
      }
      return { data: { message } };
    };
    await stage.start({}, named(), { plugins: [middleware(handler)] } as Loose);
    const first = await stage.gateway.inject('/u/1');
    deepEqual(JSON.parse(first.body), { message: 'none' });
    await stage.gateway.close();
    await start([middleware(handler)], named());
    const second = JSON.parse((await stage.gateway.inject('/u/1')).body);
    ok(/requires the context/.test(second.message));
  });
});
