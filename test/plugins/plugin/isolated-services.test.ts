import { deepEqual, equal, ok } from 'node:assert/strict';
import { freePort, until } from '../../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { IsolatedStage, named } from '../../support/isolated.ts';
import { type Receiver, startHttpReceiver } from '../../support/otlp.ts';
import { scrape } from '../../support/prometheus.ts';
import { startRedis, type TestRedis, withoutRedis } from '../../support/redis.ts';

// biome-ignore lint/suspicious/noExplicitAny: what responses hold is not typed
type Loose = any;

const middleware = (...names: string[]) => named('middleware', names);
const title = `what isolated modules ask of the gateway ${withoutRedis ?? ''}`.trim();

(withoutRedis ? describe.skip : describe)(title, function () {
  this.timeout(60_000);
  let backend: TestBackend;
  let redis: TestRedis;
  let receiver: Receiver;
  let stage: IsolatedStage;
  let scraped: number;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
    redis = await startRedis();
    receiver = await startHttpReceiver();
    scraped = await freePort();
    stage = new IsolatedStage(backend.url);
    stage.write(
      {
        redis: `middleware: (config, host) => {
          const client = host.redis('shared');
          const away = host.redis('away');
          return async () => ({ data: { got: [
            await client.increment('n', { ttlMs: 60000 }), await client.command('HSET', 'h', 'a', 1), await client.get('none'),
            await client.eval('return ARGV[1]', [], ['x']), (await failure(() => away.get('a')))[0], await failure(() => client.set('a', {})),
          ] } });
        }`,
        quota: `middleware: (config, host) => {
          const rule = host.quota('plans').rule('gold');
          return async () => ({ data: { got: [await rule.take('ada'), await rule.look('ada'), await rule.add('ada', 1)] } });
        }`,
        measure: `middleware: (config, host) => {
          const counter = host.metrics.counter('acme.seen', { description: 'Seen.' });
          const sizes = host.metrics.histogram('acme.size', { description: 'Size.', bounds: [10, 100] });
          return (ctx, request, next) => {
            counter.add(2, { kind: 'a' });
            counter.add(Number.NaN);
            sizes.record(50);
            return next();
          };
        }`,
        trace: `middleware: (config, host) => async (ctx, request, next) => {
          const span = host.tracer.start(ctx, 'isolated lookup', { 'acme.a': 1 });
          span.event('asked');
          span.set({ 'acme.b': 'two' });
          host.tracer.start(ctx, 'isolated open');
          const response = await next();
          response.data.trace = ctx.span.traceId;
          span.end();
          return response;
        }`,
      },
      'team.js',
      'const failure = (run) => run().then(() => "none", (error) => [error.code ?? error.name, error.message]);',
    );
    const rules = [{ name: 'gold', limits: [{ amount: 2, unit: 'year' }] }];
    await stage.start(
      {
        '/redis': middleware('redis'),
        '/quota': middleware('quota'),
        '/measure': middleware('measure'),
        '/trace': middleware('trace'),
      },
      {
        extra_config: {
          redis: {
            connection_pools: [
              { name: 'shared', address: redis.address, command_timeout: '20s' },
              { name: 'away', address: `127.0.0.1:${await freePort()}` },
            ],
          },
          'governance/processors': { quotas: [{ name: 'plans', connection_name: 'shared', rules }] },
          'telemetry/opentelemetry': {
            exporters: {
              prometheus: [{ name: 'local', port: scraped, listen_ip: '127.0.0.1' }],
              otlp: [{ name: 'c', host: '127.0.0.1', port: receiver.port, use_http: true, disable_metrics: true }],
            },
          },
        },
      },
    );
  });
  after(async () => {
    await stage.close();
    await receiver.close();
    await redis.close();
    await backend.close();
  });

  it('include Redis', async () => {
    const { got } = (await stage.ask('/redis')).body as Loose;
    deepEqual(got.slice(0, 5), [1, 1, null, 'x', 'REDIS_FAILED']);
    deepEqual(got[5], ['TypeError', 'arguments must be strings or numbers, not object']);
  });

  it('include quotas', async () => {
    const { got } = (await stage.ask('/quota')).body as Loose;
    const seen = got.map(({ allowed, allowances }: Loose) => [allowed, allowances[0].remaining]);
    deepEqual(seen, [
      [true, 1],
      [true, 1],
      [true, 0],
    ]);
  });

  it('include metrics', async () => {
    equal((await stage.ask('/measure')).status, 200);
    await until(async () => (await scrape(scraped)).value('acme_seen_total', { kind: 'a' }) === 2);
    equal((await scrape(scraped)).value('acme_size', {}), 1);
  });

  it('include spans, which end with the request at the latest', async () => {
    const { port } = await stage.gateway.listen();
    const { trace } = (await (await fetch(`http://127.0.0.1:${port}/trace`)).json()) as Loose;
    await until(() => receiver.spans.filter(({ name }) => name.startsWith('isolated')).length === 2);
    const span = receiver.spans.find(({ name }) => name === 'isolated lookup')!;
    deepEqual(span.attributes, { 'acme.a': 1, 'acme.b': 'two' });
    equal(span.traceId, trace);
    ok(span.end >= span.start);
  });
});
