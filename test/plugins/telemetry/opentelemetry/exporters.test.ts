import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { makeCertificates } from '../../../support/certificates.ts';
import { freePort, until } from '../../../support/conditions.ts';
import { rememberingSinks } from '../../../support/gateway.ts';
import { Stage } from './fixture.ts';

describe('the exporters of telemetry/opentelemetry', () => {
  const stage = new Stage();
  const certificates = makeCertificates();
  const authority = certificates.authority('authority');
  const server = certificates.issue('server', authority);
  after(() => certificates.remove());
  beforeEach(() => stage.startBackend());
  afterEach(() => stage.close());

  const otlp = (port: number, more: object = {}) => ({
    prometheus: [],
    otlp: [{ name: 'c', host: '127.0.0.1', port, ...more }],
  });

  for (const kind of ['http', 'grpc'] as const) {
    it(`send metrics and spans over ${kind} with the configured headers`, async () => {
      const receiver = await (kind === 'http' ? stage.httpReceiver() : stage.grpcReceiver());
      const security = { otlp: [{ name: 'c', headers: { 'X-Tenant': 'shop' } }] };
      await stage.start(
        {
          metric_reporting_period: 1,
          deploy_env: 'test',
          exporters: otlp(receiver.port, { use_http: kind === 'http' }),
        },
        { extra_config: { 'telemetry/opentelemetry-security': security } },
      );
      await stage.ask('/u/1');
      await until(() => receiver.spans.length === 5 && receiver.last('http.server.duration') !== undefined);
      const paths = new Set(receiver.requests.map(({ path }) => path));
      const services = ['metrics.v1.MetricsService', 'trace.v1.TraceService'];
      const expected =
        kind === 'http'
          ? ['/v1/metrics', '/v1/traces']
          : services.map((name) => `/opentelemetry.proto.collector.${name}/Export`);
      deepEqual([...paths].sort(), expected);
      ok(receiver.requests.every(({ headers }) => headers['x-tenant'] === 'shop'));
      const point = receiver.last('http.server.duration')!;
      deepEqual([point.type, point.unit, point.temporality], ['histogram', 's', 'AGGREGATION_TEMPORALITY_CUMULATIVE']);
      equal(point.buckets.length, point.bounds.length + 1);
      equal(
        point.buckets.reduce((sum, each) => sum + each, 0),
        point.value,
      );
      equal(point.attributes['http.response.status_code'], 200);
      const { 'service.version': version, ...resource } = point.resource;
      deepEqual(resource, { 'service.name': 'shop', 'deployment.environment': 'test' });
      match(String(version), /^\d+\.\d+\.\d+/);
      const counter = receiver.last('http.client.request.started.count')!;
      deepEqual([counter.type, counter.monotonic, counter.value], ['sum', true, 1]);
    });

    it(`send over ${kind} with TLS for https hosts, and use client_tls`, async () => {
      const tls = { cert: server.certificatePem, key: server.privateKeyPem };
      const receiver = await (kind === 'http' ? stage.httpReceiver({ tls }) : stage.grpcReceiver({ tls }));
      const exporters = otlp(receiver.port, { host: 'https://localhost', use_http: kind === 'http' });
      await stage.start({ exporters }, { client_tls: { ca_certs: [authority.certificate] } });
      await stage.ask('/u/1');
      await until(() => receiver.spans.length === 5);
    });
  }

  it('send queued data when the gateway closes', async () => {
    const receiver = await stage.httpReceiver();
    await stage.start({ metric_reporting_period: 3600, exporters: otlp(receiver.port, { use_http: true }) });
    await stage.ask('/u/1');
    await stage.gateway.close();
    equal(receiver.spans.length, 5);
    equal(receiver.last('http.server.duration')?.value, 1);
  });

  it('continue across a reload that does not change them, and are flushed when they are removed', async () => {
    const receiver = await stage.httpReceiver();
    const exporters = { otlp: [{ name: 'c', host: '127.0.0.1', port: receiver.port, use_http: true }] };
    const telemetry = { metric_reporting_period: 3600, exporters };
    await stage.start(telemetry);
    await stage.ask('/u/1');
    await stage.gateway.reload(stage.config(telemetry, { timeout: '3s' }));
    await stage.ask('/u/1');
    await stage.gateway.reload(stage.config());
    await until(() => receiver.spans.length === 10);
    equal(receiver.last('http.server.duration')?.value, 2);
  });

  for (const [what, kind, outcome, reason] of [
    ['is unreachable', 'http', undefined, /ECONNREFUSED/],
    ['is unreachable', 'grpc', undefined, /ECONNREFUSED/],
    ['responds with 500', 'http', 500, /status 500/],
    ['never responds', 'http', 'never', /no response within 4000 ms/],
    ['never responds', 'grpc', 'never', /no response within 4000 ms/],
  ] as const) {
    it(`delay no request, and log once, if the collector ${what} over ${kind}`, async () => {
      const options = { fail: () => outcome };
      const receiver = kind === 'http' ? stage.httpReceiver(options) : stage.grpcReceiver(options);
      const port = outcome === undefined ? await freePort() : (await receiver).port;
      const exporters = otlp(port, { use_http: kind === 'http' });
      const sinks = rememberingSinks();
      await stage.start({ metric_reporting_period: 1, exporters }, {}, { sinks });
      const errors = () => sinks.lines.filter((line) => line.includes('[SERVICE: OpenTelemetry]'));
      equal(await stage.ask('/u/1'), 200);
      await until(() => errors().length > 0);
      for (let count = 0; count < 20; count++) equal(await stage.ask('/u/1'), 200);
      equal(errors().length, 1);
      match(errors()[0]!, reason);
      match(errors()[0]!, /exporter "c" at 127\.0\.0\.1:\d+/);
    });
  }

  it('close within seconds if the collector does not respond', async () => {
    const receiver = await stage.grpcReceiver({ fail: () => 'never' });
    await stage.start({ exporters: otlp(receiver.port) });
    await stage.ask('/u/1');
    await stage.gateway.close();
  });

  it('expose metrics at one path of their own port', async () => {
    await stage.start();
    await stage.ask('/u/1');
    const status = async (path: string, method = 'GET') =>
      (await fetch(`http://127.0.0.1:${stage.scrapePort}${path}`, { method })).status;
    deepEqual(
      [await status('/metrics'), await status('/metrics?x'), await status('/'), await status('/metrics', 'POST')],
      [200, 200, 404, 405],
    );
    match((await stage.scrape()).contentType, /^text\/plain; version=0\.0\.4/);
  });

  it('close a connection that sends no request within three seconds', async () => {
    await stage.start();
    const socket = connect(stage.scrapePort, '127.0.0.1');
    socket.write('GET /metrics HTTP/1.1\r\n');
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
    });
    match(answer, /^HTTP\/1\.1 408 /);
  });

  it('survive a scraper that disconnects during a response', async () => {
    await stage.start();
    await stage.ask('/u/1');
    await new Promise<void>((resolve) => {
      const leaving = request({ port: stage.scrapePort, host: '127.0.0.1', path: '/metrics' }, (response) => {
        response.once('data', () => response.destroy());
        response.once('close', () => resolve());
      });
      leaving.on('error', () => {});
      leaving.end();
    });
    equal((await stage.scrape()).value('http_server_duration'), 1);
  });

  it('open a new port before they close the old one', async () => {
    await stage.start();
    await stage.ask('/u/1');
    const before = stage.scrapePort;
    stage.scrapePort = await freePort();
    await stage.gateway.reload(stage.config());
    equal((await stage.scrape()).value('http_server_duration'), 1);
    await until(() =>
      fetch(`http://127.0.0.1:${before}/metrics`).then(
        () => false,
        () => true,
      ),
    );
  });

  it('fail to start and to reload if a port is in use', async () => {
    const { port } = await stage.httpReceiver();
    stage.scrapePort = port;
    await rejects(stage.start(), /LISTENER_BIND.*address already in use/);
    stage.scrapePort = 0;
    await stage.start();
    const good = stage.scrapePort;
    stage.scrapePort = port;
    await rejects(stage.gateway.reload(stage.config()), /address already in use/);
    stage.scrapePort = good;
    await stage.ask('/u/1');
    equal((await stage.scrape()).value('http_server_duration'), 1);
  });

  it('export process and runtime metrics if configured', async () => {
    stage.scrapePort = await freePort();
    await stage.start({
      exporters: {
        prometheus: [
          {
            name: 'local',
            port: stage.scrapePort,
            host: '127.0.0.1',
            process_metrics: true,
            go_metrics: true,
          },
        ],
      },
    });
    const { value, types } = await stage.scrape();
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_open_fds',
      'process_max_fds',
      'process_start_time_seconds',
      'nodejs_heap_size_used_bytes',
      'nodejs_active_resources',
    ]) {
      ok(value(name) > 0, name);
    }
    ok(types.has('nodejs_eventloop_lag_p99_seconds'));
  });
});
