import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { newRelic } from '../../plugins/telemetry/newrelic.ts';
import { sluice } from '../kernel/cli/command.ts';
import { freePort, until } from '../support/conditions.ts';
import { startGrpcReceiver, startHttpReceiver } from '../support/otlp.ts';
import { startWith } from '../support/plugged.ts';
import { scrape } from '../support/prometheus.ts';
import { checkFilled } from './filled-check.ts';
import { serveSample } from './serve.ts';

/** Variables as in the example of the guide. */
const environment = {
  COLLECTOR_TOKEN: 'of-the-sample',
  INFLUX_PASSWORD: 'of-the-sample',
  NEW_RELIC_LICENSE: '0123456789012345678901234567890123456789',
};

describe('the sample "telemetry"', () => {
  let sample: Awaited<ReturnType<typeof serveSample>>;
  let port: number;
  let statsPort: number;

  before(async () => {
    port = await freePort();
    statsPort = await freePort();
    sample = await serveSample('telemetry', (text) =>
      text.replace('"port": 9091', `"port": ${port}`).replace(':8090', `:${statsPort}`),
    );
  });
  after(() => sample.close());

  for (const file of ['gateway.json', 'collector.json', 'influx.json', 'newrelic.json']) {
    it(`passes check without warnings: ${file}`, async () => {
      const { code, err } = await checkFilled(`samples/telemetry/${file}`, environment);
      deepEqual([code, err], [0, '']);
    });
  }

  it('exports spans of requests, except for skipped paths', async () => {
    for (const url of ['/users/1', '/users/2', '/companies/7', '/internal/1', '/nope'])
      await sample.gateway.inject(url);
    const { value, series } = await scrape(port);
    equal(value('http_server_duration', { http_route: '/users/:user', region: 'eu' }), 2);
    equal(value('http_server_duration', { http_route: '404 Not Found' }), 1);
    deepEqual(series('http_server_duration', { http_route: '/internal/:id' }), []);
    deepEqual(
      series('krakend_backend_duration').map(({ labels }) => labels['http_route']),
      ['/users/:user'],
    );
  });

  it('has a dashboard of metrics that the gateway exports', async () => {
    await sample.gateway.inject('/users/1');
    const { text } = await scrape(port);
    const { panels } = JSON.parse(readFileSync('samples/telemetry/dashboard.json', 'utf8'));
    const queries: string[] = panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    );
    ok(queries.length > 0);
    for (const query of queries) {
      for (const [metric] of query.matchAll(/\b(?:http|krakend|process)_\w+(?![\w=])/g)) {
        const isLabel = new RegExp(`${metric}="`).test(text);
        const type = `^# TYPE ${metric.replace(/_(?:bucket|count|sum)$/, '')} `;
        ok(isLabel || new RegExp(type, 'm').test(text), `${metric} is not exported`);
      }
    }
  });

  it('passes check with one warning: OpenCensus is converted into OTLP', async () => {
    const { code, out, err } = await sluice('check', '-c', 'samples/telemetry/opencensus.json');
    equal(code, 0);
    deepEqual((out + err).match(/OPENCENSUS_\w+/g), ['OPENCENSUS_PROTOCOL']);
  });

  it('sends transactions to New Relic', async () => {
    const receiver = await startHttpReceiver();
    const plugin = newRelic(() => `http://127.0.0.1:${receiver.port}`);
    const { gateway, close } = await serveSample('telemetry/newrelic.json', undefined, (config) =>
      startWith([plugin], config),
    );
    await gateway.inject({ url: '/users/1', headers: { 'X-Tenant': 'acme' } });
    await until(() => receiver.spans.some(({ kind }) => kind === 'SPAN_KIND_SERVER'));
    const span = receiver.spans.find(({ kind }) => kind === 'SPAN_KIND_SERVER')!;
    equal(span.name, 'GET /users/:user');
    deepEqual(span.attributes['http.request.header.x-tenant'], ['acme']);
    await close();
    await receiver.close();
  });

  it('sends its credential to the collector', async () => {
    const receiver = await startHttpReceiver();
    const { gateway, close } = await serveSample('telemetry/collector.json', (text) =>
      text
        .replace('"port": 4318', `"port": ${receiver.port}`)
        .replace('"trace_sample_rate": 0.1', '"trace_sample_rate": 1')
        .replace(`\${COLLECTOR_TOKEN}`, 'of-the-sample'),
    );
    await gateway.inject('/users/1');
    await until(() => receiver.spans.some(({ kind }) => kind === 'SPAN_KIND_SERVER'));
    await close();
    deepEqual(
      new Set(receiver.requests.map(({ headers }) => headers.authorization)),
      new Set(['Bearer of-the-sample']),
    );
    await receiver.close();
  });

  it('exports what an old OpenCensus configuration defines', async () => {
    const receiver = await startGrpcReceiver();
    const metricsPort = await freePort();
    const { gateway, close } = await serveSample('telemetry/opencensus.json', (text) =>
      text.replace('"port": 9092', `"port": ${metricsPort}`).replace(':4317', `:${receiver.port}`),
    );
    await gateway.inject('/users/1');
    await until(() => receiver.spans.some(({ kind }) => kind === 'SPAN_KIND_SERVER'));
    equal((await scrape(metricsPort)).value('http_server_duration', { http_route: '/users/:user' }), 1);
    await close();
    await receiver.close();
  });

  it('serves the metrics as one JSON object at /__stats', async () => {
    await sample.gateway.inject('/users/3');
    const stats = await (await fetch(`http://127.0.0.1:${statsPort}/__stats`)).json();
    ok((stats as Record<string, number>)['krakend.router.response./users/:user.status.200.count']! >= 1);
  });
});
