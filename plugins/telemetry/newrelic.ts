// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import {
  atService,
  definePlugin,
  definePort,
  HEADER_NAME_PATTERN,
  type Infer,
  offer,
  type Plugin,
  type Port,
  type Schema,
  type Site,
  tracers,
} from '#contract';
import { telemetrySwitches } from '../shared/ports/telemetry-switches.ts';
import { Engine, engines } from './opentelemetry/engine.ts';
import { openExporters, resourceOf } from './opentelemetry/exporters.ts';
import { credentials, requestHeaderReport } from './opentelemetry/header-report.ts';
import type { OpenTelemetryConfig } from './opentelemetry/schema.ts';
import { attachEngine, configuredPropagation } from './opentelemetry/service.ts';

const name = 'telemetry/newrelic';

/** Lets `telemetry/newrelic` and other components share the engine that sends telemetry to New Relic. */
export const newRelicEngines: Port<Engine> = definePort('New Relic');

/** Name of the exporter in the log. */
const EXPORTER = 'New Relic';

const schema = {
  type: 'object',
  title: 'New Relic',
  description: 'Settings for New Relic transactions. Each request is one transaction, with a segment per backend call.',
  required: ['license'],
  examples: [
    { license: '${NEW_RELIC_LICENSE}' },
    { license: '${NEW_RELIC_LICENSE}', headers_to_pass: ['X-Tenant', 'Accept-Language'], debug: true },
  ],
  properties: {
    license: {
      type: 'string',
      minLength: 1,
      secret: true,
      description: 'License key. Keys that start with eu belong to the EU data center.',
    },
    headers_to_pass: {
      type: 'array',
      items: { type: 'string', pattern: HEADER_NAME_PATTERN },
      description: 'Request headers to report. ["*"] reports all headers except those with credentials.',
      default: [],
      examples: [['X-Tenant'], ['*']],
    },
    debug: { type: 'boolean', description: 'Logs every push at DEBUG.', default: false },
  },
} as const satisfies Schema;

type NewRelicConfig = Infer<typeof schema>;

/**
 * Sends transactions and segments to New Relic as spans over OTLP, without delaying clients. Codes: `NEWRELIC_LICENSE`,
 * `NEWRELIC_OPENTELEMETRY`, `NEWRELIC_CREDENTIALS` (a warning), and of telemetry/opentelemetry `OTEL_PROPAGATORS` and
 * `OTEL_TLS`.
 * @param collectorOf returns the collector address for a license, without a path.
 */
export function newRelic(collectorOf: (license: string) => string): Plugin {
  return definePlugin({
    name,
    description: 'Reports a transaction for each request to New Relic.',
    leaves: ['data'],
    independent: true,
    offers: [newRelicEngines, tracers],
    takes: [engines, telemetrySwitches],
    places: [
      atService(schema, (site) => {
        checkSite(site);
        const { license, headers_to_pass: passed, debug } = site.config;
        const config = telemetryTo(new URL(collectorOf(license)));
        const exporters = openExporters(site, config, {
          resource: resourceOf(site, config),
          headers: new Map([[EXPORTER, { 'api-key': license }]]),
          label: '[SERVICE: New Relic]',
          logsPushes: debug,
        });
        const propagation = configuredPropagation(site);
        const headers = requestHeaderReport(passed);
        const engine = new Engine(site, { config, exporters, propagation, headers });
        const attached = attachEngine(engine, name);
        return { ...attached, offers: [...attached.offers, offer(newRelicEngines, engine)] };
      }),
    ],
  });
}

export const plugin = newRelic(collectorOf);

/** Returns the New Relic OTLP endpoint for a license. */
export function collectorOf(license: string): string {
  return license.startsWith('eu') ? 'https://otlp.eu01.nr-data.net' : 'https://otlp.nr-data.net';
}

function checkSite(site: Site<NewRelicConfig>): void {
  const { license, headers_to_pass: passed } = site.config;
  if (site.take(engines)) {
    const message = 'telemetry/newrelic and telemetry/opentelemetry cannot be combined';
    throw site.fault('NEWRELIC_OPENTELEMETRY', '', message, {
      hint: `remove one; telemetry/opentelemetry can also send to New Relic, with an exporter in "otlp" that has "host": "${collectorOf(license)}", "port": 443, "use_http": true and the license as header api-key in telemetry/opentelemetry-security`,
    });
  }
  if (!/^[\x21-\x7e]+$/.test(license)) {
    throw site.fault(
      'NEWRELIC_LICENSE',
      '/license',
      'a license must not contain spaces, line breaks or non-ASCII characters',
    );
  }
  for (const [at, header] of passed.entries()) {
    if (!credentials.has(header.toLowerCase())) continue;
    const message = `${header} contains credentials: anyone who can read the transactions can impersonate the client`;
    site.warn('NEWRELIC_CREDENTIALS', `/headers_to_pass/${at}`, message);
  }
}

/**
 * Configures one span per request, named after its endpoint, and two per backend: its pipe and its request. New Relic
 * derives counts and durations of transactions from spans, so metrics are not sent.
 */
function telemetryTo({ protocol, hostname, port }: URL): OpenTelemetryConfig {
  const collector = {
    name: EXPORTER,
    host: `${protocol}//${hostname}`,
    port: port === '' ? 443 : Number(port),
    use_http: true,
    disable_metrics: true,
    disable_traces: false,
    custom_metric_reporting_period: 0,
  };
  const spans = {
    disable_stage: false,
    round_trip: true,
    read_payload: false,
    detailed_connection: false,
    static_attributes: [],
    report_headers: false,
    skip_headers: [],
  };
  const pipe = {
    disable_metrics: true,
    disable_traces: true,
    report_headers: false,
    skip_headers: [],
    metrics_static_attributes: [],
    traces_static_attributes: [],
  };
  return {
    service_name: '',
    service_version: '',
    deploy_env: '',
    metric_reporting_period: 30,
    trace_sample_rate: 1,
    skip_paths: [],
    exporters: { otlp: [collector], prometheus: [] },
    histograms: { time_buckets: [], size_buckets: [] },
    layers: { proxy: pipe, backend: { traces: spans } },
  };
}
