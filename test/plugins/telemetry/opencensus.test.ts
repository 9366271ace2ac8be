import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { Operations } from '../../../kernel/index.ts';
import { plugin } from '../../../plugins/telemetry/opencensus/index.ts';
import { freePort, until } from '../../support/conditions.ts';
import { json, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';
import { startGrpcReceiver } from '../../support/otlp.ts';
import { scrape } from '../../support/prometheus.ts';

describe('telemetry/opencensus', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const configWith = (census: object, more: object = {}) => ({
    version: 3,
    name: 'shop',
    extra_config: { 'telemetry/opencensus': census, ...more },
    endpoints: [{ endpoint: '/u/{id}', backend: [{ host: [backend.url], url_pattern: '/users/{id}' }] }],
  });
  const ask = async (census: object) => {
    gateway = await startGateway(configWith(census));
    equal((await gateway.inject({ method: 'GET', url: '/u/1' })).statusCode, 200);
  };

  const layers = {
    router: 'http_server_duration_count',
    pipe: 'krakend_proxy_duration_count',
    backend: 'krakend_backend_duration_count',
  };
  for (const [what, enabled, expected] of [
    ['all layers', undefined, ['router', 'pipe', 'backend']],
    ['the layers that are enabled', { router: true, backend: true }, ['router', 'backend']],
    ['only the proxy layer', { pipe: true }, ['pipe']],
  ] as const) {
    it(`exposes in Prometheus ${what}`, async () => {
      const port = await freePort();
      await ask({ exporters: { prometheus: { port } }, ...(enabled && { enabled_layers: enabled }) });
      let text = '';
      await until(async () => {
        text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        return text.includes('_count{');
      });
      const shown = Object.entries(layers).filter(([, metric]) => text.includes(`${metric}{`));
      deepEqual(
        shown.map(([layer]) => layer),
        expected,
      );
      equal((await scrape(port)).contentType.startsWith('text/plain'), true);
    });
  }

  for (const place of ['endpoint', 'backend'] as const) {
    it(`applies path_aggregation at the ${place} level, and warns about settings without effect`, async () => {
      for (const [aggregation, codes] of [
        ['pattern', []],
        ['lastparam', ['OPTION_UNUSED']],
        ['off', ['OPTION_UNUSED']],
      ] as const) {
        const gate = await openHarness(plugin, place, { path_aggregation: aggregation });
        deepEqual(
          gate.warnings.map(({ code }) => code),
          codes,
        );
        await gate.close();
      }
      await rejects(openHarness(plugin, place, { path_aggregation: 'first' }));
    });
  }

  it('sends metrics and spans to an OTLP collector with its headers', async () => {
    const receiver = await startGrpcReceiver();
    const ocagent = {
      address: `127.0.0.1:${receiver.port}`,
      service_name: 'census',
      insecure: true,
      headers: { 'X-Key': 'key' },
    };
    await ask({ sample_rate: 100, reporting_period: 1, exporters: { ocagent } });
    await until(() => receiver.spans.length === 5 && receiver.last('http.server.duration') !== undefined);
    equal(receiver.spans[0]!.resource['service.name'], 'census');
    ok(receiver.requests.every(({ headers }) => headers['x-key'] === 'key'));
    await gateway!.close();
    gateway = undefined;
    await receiver.close();
  });

  it('records no spans without a sample rate', async () => {
    const receiver = await startGrpcReceiver();
    await ask({ exporters: { ocagent: { address: `127.0.0.1:${receiver.port}`, insecure: true } } });
    await gateway!.close();
    gateway = undefined;
    equal(receiver.spans.length, 0);
    equal(receiver.last('http.server.duration')?.value, 1);
    await receiver.close();
  });

  for (const exporter of ['logger', 'zipkin', 'jaeger', 'influxdb', 'xray', 'stackdriver', 'datadog', 'newrelic']) {
    it(`warns that ${exporter} is not supported, and accepts its settings`, async () => {
      const gate = await openHarness(plugin, 'service', { exporters: { [exporter]: { any: { setting: [1] } } } });
      deepEqual(
        gate.warnings.map(({ code, pointer }) => [code, pointer]),
        [['OPTION_UNUSED', `/exporters/${exporter}`]],
      );
      deepEqual(gate.attached, {});
      await gate.close();
    });
  }

  it('warns about settings without effect', async () => {
    const ocagent = { address: 'localhost', insecure: true, reconnection: '2s', enable_compression: true };
    const prometheus = { port: 0, namespace: 'shop', tag_host: false };
    const gate = await openHarness(plugin, 'service', { exporters: { prometheus, ocagent } });
    deepEqual(gate.warnings.map(({ code, pointer }) => [code, pointer]).sort(), [
      ['OPENCENSUS_PROTOCOL', '/exporters/ocagent/address'],
      ['OPTION_UNUSED', '/exporters/ocagent/enable_compression'],
      ['OPTION_UNUSED', '/exporters/ocagent/reconnection'],
      ['OPTION_UNUSED', '/exporters/prometheus/namespace'],
      ['OPTION_UNUSED', '/exporters/prometheus/tag_host'],
    ]);
    await gate.close();
  });

  describe('is rejected', () => {
    for (const [other, config] of [
      ['telemetry/opentelemetry', { exporters: { prometheus: [{ name: 'local', port: 0, listen_ip: '127.0.0.1' }] } }],
      ['telemetry/newrelic', { license: 'key' }],
    ] as const) {
      it(`with ${other}`, () =>
        rejects(
          startGateway(configWith({ exporters: { prometheus: { port: 0 } } }, { [other]: config })),
          new RegExp(`OPENCENSUS_BESIDE.*and ${other} cannot be combined`),
        ));
    }

    for (const [what, config, message] of [
      ['without exporters', {}, /exporters/],
      ['with an empty list of exporters', { exporters: {} }, /exporters/],
      ['with an unknown exporter', { exporters: { graphite: {} } }, /graphite/],
      ['with a rate above 100', { sample_rate: 101, exporters: { prometheus: { port: 0 } } }, /sample_rate/],
      ['with a URL instead of an address', { exporters: { ocagent: { address: 'http://a/b' } } }, /OPENCENSUS_ADDRESS/],
      ['with an invalid port', { exporters: { ocagent: { address: 'a:70000' } } }, /OPENCENSUS_ADDRESS/],
      [
        'with an invalid header name',
        { exporters: { ocagent: { address: 'a', headers: { b: 'c\r\n' } } } },
        /OPENCENSUS_HEADER/,
      ],
    ] as const) {
      it(what, () => rejects(openHarness(plugin, 'service', config), message));
    }
  });
});
