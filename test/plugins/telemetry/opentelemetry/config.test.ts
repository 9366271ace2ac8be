import { deepEqual, rejects } from 'node:assert/strict';
import { plugin } from '../../../../plugins/telemetry/opentelemetry/index.ts';
import { plugin as security } from '../../../../plugins/telemetry/opentelemetry-security.ts';
import { openHarness } from '../../../support/harness.ts';
import { Stage } from './fixture.ts';

const otlp = (...names: string[]) => ({ otlp: names.map((name) => ({ name, host: '127.0.0.1', port: 1 })) });

describe('the configuration of telemetry/opentelemetry', () => {
  const stage = new Stage();
  afterEach(() => {
    delete process.env['OTEL_PROPAGATORS'];
    return stage.close();
  });

  for (const [what, config, message] of [
    ['missing exporters', { exporters: {} }, /OTEL_EXPORTERS {2}no exporter is configured/],
    ['empty lists of exporters', {}, /exporters/],
    ['two exporters with the same name', { exporters: otlp('a', 'a') }, /otlp\/1\/name {2}OTEL_EXPORTER_NAME/],
    [
      'one name for an OTLP and a Prometheus exporter',
      { exporters: { ...otlp('a'), prometheus: [{ name: 'a', port: 0 }] } },
      /prometheus\/0\/name {2}OTEL_EXPORTER_NAME/,
    ],
    ['a host with a port', { exporters: { otlp: [{ name: 'a', host: 'x:4317' }] } }, /otlp\/0\/host {2}OTEL_HOST/],
    ['a host with a path', { exporters: { otlp: [{ name: 'a', host: 'http://x/v1' }] } }, /OTEL_HOST/],
    ['another scheme', { exporters: { otlp: [{ name: 'a', host: 'grpc://x' }] } }, /OTEL_HOST/],
    [
      'unsorted bucket boundaries',
      { exporters: otlp('a'), histograms: { time_buckets: [1, 0.5] } },
      /histograms\/time_buckets\/1 {2}OTEL_BUCKETS/,
    ],
    ['a rate above 1', { exporters: otlp('a'), trace_sample_rate: 1.5 }, /trace_sample_rate/],
    ['an unknown field', { exporters: otlp('a'), sample: 1 }, /sample/],
    ['an unknown layer', { exporters: otlp('a'), layers: { router: {} } }, /router/],
    [
      'a duplicate port',
      {
        exporters: {
          prometheus: [
            { name: 'a', port: 9999 },
            { name: 'b', port: 9999 },
          ],
        },
      },
      /prometheus\/1\/port {2}OTEL_PORT/,
    ],
  ] as const) {
    it(`is rejected if it has ${what}`, () => rejects(openHarness(plugin, 'service', config), message));
  }

  for (const [what, config, code, pointer] of [
    ['a sample rate of 0', { exporters: otlp('a'), trace_sample_rate: 0 }, 'OTEL_SAMPLE_RATE', '/trace_sample_rate'],
    [
      'a reporting period for a scraped exporter',
      { exporters: { prometheus: [{ name: 'a', port: 0, custom_metric_reporting_period: 5 }] } },
      'OPTION_UNUSED',
      '/exporters/prometheus/0/custom_metric_reporting_period',
    ],
    [
      'reported headers for the metrics of backends',
      { exporters: otlp('a'), layers: { backend: { metrics: { report_headers: true } } } },
      'OPTION_UNUSED',
      '/layers/backend/metrics/report_headers',
    ],
  ] as const) {
    it(`is accepted with a warning with ${what}`, async () => {
      const gate = await openHarness(plugin, 'service', config);
      deepEqual(
        gate.warnings.map((warning) => [warning.code, warning.pointer]),
        [[code, pointer]],
      );
      await gate.close();
    });
  }

  it('uses the default reporting period for 0', async () => {
    const gate = await openHarness(plugin, 'service', { exporters: otlp('a'), metric_reporting_period: 0 });
    deepEqual(gate.warnings, []);
    await gate.close();
  });

  it('is rejected with an unknown name in OTEL_PROPAGATORS', async () => {
    process.env['OTEL_PROPAGATORS'] = 'tracecontext,jaeger';
    await rejects(openHarness(plugin, 'service', { exporters: otlp('a') }), /OTEL_PROPAGATORS.*"jaeger"/);
  });

  for (const [field, names] of [
    ['metric_exporters', ['other']],
    ['trace_exporters', ['local']],
  ] as const) {
    it(`is rejected if an endpoint names an unknown exporter in ${field}`, async () => {
      await stage.startBackend();
      const own = { 'telemetry/opentelemetry': { exporters_override: { [field]: names } } };
      const pointer = new RegExp(`exporters_override/${field}/0  OTEL_EXPORTER_UNKNOWN`);
      await rejects(stage.start({}, { endpoints: [stage.endpoint({ extra_config: own })] }), pointer);
    });
  }

  it('is rejected if credentials name an unknown exporter', async () => {
    await stage.startBackend();
    const given = { otlp: [{ name: 'local', headers: { 'X-Key': 'a' } }] };
    await rejects(
      stage.start({}, { extra_config: { 'telemetry/opentelemetry-security': given } }),
      /OTEL_EXPORTER_UNKNOWN.*"local", which is not an OTLP exporter/,
    );
  });

  for (const [what, config, message] of [
    [
      'a duplicate name',
      {
        otlp: [
          { name: 'a', headers: { b: 'c' } },
          { name: 'a', headers: { b: 'c' } },
        ],
      },
      /OTEL_EXPORTER_NAME/,
    ],
    ['an invalid header name', { otlp: [{ name: 'a', headers: { 'b c': 'd' } }] }, /OTEL_HEADER/],
    ['a line break in a value', { otlp: [{ name: 'a', headers: { b: 'c\r\nd: e' } }] }, /OTEL_HEADER/],
    ['no headers', { otlp: [{ name: 'a', headers: {} }] }, /headers/],
  ] as const) {
    it(`is rejected with credentials that have ${what}`, () =>
      rejects(openHarness(security, 'service', config), message));
  }

  it("at an endpoint or a backend has no effect without the root's", async () => {
    for (const place of ['endpoint', 'backend'] as const) {
      const gate = await openHarness(plugin, place, {});
      deepEqual(gate.attached, {});
      await gate.close();
    }
  });
});
