import {
  type AtService,
  atBackend,
  atEndpoint,
  atService,
  connectionObservers,
  definePlugin,
  meters,
  type Offer,
  offer,
  type Site,
  tracers,
} from '#contract';
import { telemetrySwitches } from '../../shared/ports/telemetry-switches.ts';
import { connectionReport } from './client.ts';
import { Engine, engines } from './engine.ts';
import { exporterHeaders, openExporters, resourceOf } from './exporters.ts';
import { type BackendLayer, backendLayerOf } from './layers.ts';
import { backendSchema, endpointSchema, type OpenTelemetryConfig, serviceSchema } from './schema.ts';
import { listen } from './scraped.ts';
import { attachEngine, configuredPropagation } from './service.ts';

const name = 'telemetry/opentelemetry';

/** Exports metrics and traces of client requests, endpoint pipes and backends over OTLP and for Prometheus. */
export const plugin = definePlugin({
  name,
  description: 'Exports metrics and traces over OTLP and to Prometheus.',
  leaves: ['data'],
  opens: ['/exporters/prometheus'],
  independent: true,
  offers: [engines, meters, connectionObservers, tracers],
  takes: [engines, exporterHeaders, telemetrySwitches],
  places: [
    atService(serviceSchema, attachService),
    atEndpoint(endpointSchema, (site) => {
      const engine = site.take(engines);
      const telemetry = engine?.report(site, site.endpoint, site.config);
      if (!engine || !telemetry) return {};
      return { ...telemetry.attachment, ...observed(telemetry.layers.backend, engine.backend) };
    }),
    atBackend(backendSchema, (site) => {
      const engine = site.take(engines);
      const telemetry = engine?.endpoints.get(site.endpoint);
      if (!engine || !telemetry) return {};
      const layer = site.config.backend ? backendLayerOf(site.config.backend) : telemetry.layers.backend;
      const isObserved = isDetailed(engine.backend) || isDetailed(telemetry.layers.backend);
      return {
        ...telemetry.attachmentOf(site.backend, layer, engine.propagation),
        ...(!isObserved && isDetailed(layer) && { offers: [offer(connectionObservers, connectionReport)] }),
      };
    }),
  ],
});

function isDetailed({ metrics, traces }: BackendLayer): boolean {
  return metrics.detailed || traces.detailed;
}

/** Observes connections for a backend layer if the service does not already. */
function observed(layer: BackendLayer, service: BackendLayer): { readonly offers?: readonly Offer[] } {
  return isDetailed(layer) && !isDetailed(service) ? { offers: [offer(connectionObservers, connectionReport)] } : {};
}

/**
 * @throws ConfigError OTEL_EXPORTERS, OTEL_EXPORTER_NAME, OTEL_EXPORTER_UNKNOWN, OTEL_HOST, OTEL_BUCKETS, OTEL_PROPAGATORS,
 * OTEL_PORT, OTEL_TLS
 */
function attachService(site: Site<OpenTelemetryConfig>): AtService {
  checkBuckets(site);
  const { config } = site;
  if (config.trace_sample_rate === 0) {
    site.warn(
      'OTEL_SAMPLE_RATE',
      '/trace_sample_rate',
      'a sample rate of 0 disables tracing, but KrakenD records all spans with it',
    );
  }
  const resource = resourceOf(site, config);
  const headers = site.take(exporterHeaders);
  const exporters = openExporters(site, config, { resource, headers, label: '[SERVICE: OpenTelemetry]' });
  const engine = new Engine(site, { config, exporters, propagation: configuredPropagation(site) });
  listen(site, config, engine, resource);
  const attached = attachEngine(engine, name);
  return {
    ...attached,
    offers: [
      ...attached.offers,
      offer(engines, engine),
      ...(engine.store ? [offer(meters, engine.store)] : []),
      ...(isDetailed(engine.backend) ? [offer(connectionObservers, connectionReport)] : []),
    ],
  };
}

function checkBuckets(site: Site<OpenTelemetryConfig>): void {
  for (const [field, bounds] of Object.entries(site.config.histograms) as [string, readonly number[]][]) {
    const at = bounds.findIndex((bound, index) => index > 0 && bound <= bounds[index - 1]!);
    if (at < 0) continue;
    throw site.fault('OTEL_BUCKETS', `/histograms/${field}/${at}`, 'the bucket boundaries are not in ascending order');
  }
}
