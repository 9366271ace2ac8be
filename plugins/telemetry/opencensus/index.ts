import {
  type AtService,
  atBackend,
  atEndpoint,
  atService,
  definePlugin,
  HEADER_NAME_PATTERN,
  type Site,
  tracers,
} from '#contract';
import { telemetrySwitches } from '../../shared/ports/telemetry-switches.ts';
import { newRelicEngines } from '../newrelic.ts';
import { Engine, engines } from '../opentelemetry/engine.ts';
import { type ExporterHeaders, openExporters, resourceOf } from '../opentelemetry/exporters.ts';
import { listen } from '../opentelemetry/scraped.ts';
import { attachEngine, configuredPropagation } from '../opentelemetry/service.ts';
import { type OpenCensusConfig, pathSchema, serviceSchema } from './schema.ts';
import { type Collector, OCAGENT, telemetryOf } from './translation.ts';

const name = 'telemetry/opencensus';

/**
 * Runs an OpenCensus configuration on OpenTelemetry. Codes: `OPENCENSUS_BESIDE`, `OPENCENSUS_ADDRESS`,
 * `OPENCENSUS_HEADER`, and of telemetry/opentelemetry `OTEL_PROPAGATORS` and `OTEL_TLS`; a warning
 * `OPENCENSUS_PROTOCOL`.
 */
export const plugin = definePlugin({
  name,
  description: 'Reports metrics and spans like telemetry/opentelemetry, but with the older OpenCensus configuration.',
  leaves: ['data'],
  opens: ['/exporters/prometheus'],
  independent: true,
  offers: [tracers],
  takes: [engines, newRelicEngines, telemetrySwitches],
  places: [
    atService(serviceSchema, attachService),
    atEndpoint(pathSchema, () => ({})),
    atBackend(pathSchema, () => ({})),
  ],
});

function attachService(site: Site<OpenCensusConfig>): AtService {
  refuseOthers(site);
  const { prometheus, ocagent } = site.config.exporters;
  if (!prometheus && !ocagent) return {};
  if (ocagent) {
    const message = 'spans and metrics are sent as OTLP over gRPC, not with the OpenCensus protocol';
    site.warn('OPENCENSUS_PROTOCOL', '/exporters/ocagent/address', message);
  }
  const config = telemetryOf(site.config, ocagent ? collectorOf(site, ocagent.address) : null);
  const resource = resourceOf(site, config);
  const exporters = openExporters(site, config, {
    resource,
    headers: ocagent && headersOf(site, ocagent.headers),
    label: '[SERVICE: OpenCensus]',
  });
  const engine = new Engine(site, { config, exporters, propagation: configuredPropagation(site) });
  listen(site, config, engine, resource);
  return attachEngine(engine, name);
}

function refuseOthers(site: Site<OpenCensusConfig>): void {
  const other = site.take(engines) ? 'telemetry/opentelemetry' : site.take(newRelicEngines) && 'telemetry/newrelic';
  if (!other) return;
  throw site.fault('OPENCENSUS_BESIDE', '', `${name} and ${other} cannot be combined`, {
    hint: `remove ${name}`,
  });
}

const DEFAULT_PORT = 55_678;

function collectorOf(site: Site<OpenCensusConfig>, address: string): Collector {
  const [, host, port = DEFAULT_PORT] = /^(\[[\da-fA-F:.]+\]|[^\s/:@?#[\]]+)(?::(\d{1,5}))?$/.exec(address) ?? [];
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  const message = `"${address}" is not a valid collector address`;
  throw site.fault('OPENCENSUS_ADDRESS', '/exporters/ocagent/address', message, { hint: 'as in "collector:4317"' });
}

const headerName = new RegExp(HEADER_NAME_PATTERN);

function headersOf(site: Site<OpenCensusConfig>, headers: Readonly<Record<string, string>>): ExporterHeaders {
  for (const [header, value] of Object.entries(headers)) {
    if (headerName.test(header) && /^[\t\x20-\x7e]*$/.test(value)) continue;
    const message = `"${header}" is not a valid header name, or its value cannot be sent`;
    throw site.fault('OPENCENSUS_HEADER', '/exporters/ocagent/headers', message);
  }
  return new Map([[OCAGENT, headers]]);
}
