import type { Site } from '#contract';
import { processStore, runtimeStore } from '../lib/metrics/process-metrics.ts';
import { scrapes } from '../lib/metrics/prometheus-port.ts';
import { gatewayMetrics } from '../lib/metrics/relay.ts';
import type { Engine } from './engine.ts';
import { withLists } from './exporters.ts';
import type { OpenTelemetryConfig } from './schema.ts';

/** Timeout for the headers of a scrape request, in milliseconds. */
const HEADER_MS = 3000;

/**
 * Opens the ports for scraping.
 * @throws ConfigError OTEL_PORT
 */
export function listen(
  site: Site<unknown>,
  telemetry: OpenTelemetryConfig,
  engine: Engine,
  resource: Readonly<Record<string, string>>,
): void {
  const taken = new Set<string>();
  for (const [index, config] of withLists(telemetry).prometheus.entries()) {
    const at = `/exporters/prometheus/${index}`;
    const { name: exporter, port, listen_ip, host } = config;
    const address = listen_ip ?? host ?? '0.0.0.0';
    if (port !== 0 && taken.has(`${address}:${port}`)) {
      throw site.fault('OTEL_PORT', `${at}/port`, `another exporter listens on ${address}:${port}`);
    }
    taken.add(`${address}:${port}`);
    if (config.process_metrics) engine.show(exporter, gatewayMetrics(site, 'process metrics', processStore));
    if (config.go_metrics) engine.show(exporter, gatewayMetrics(site, 'runtime metrics', runtimeStore));
    site.listen(
      { host: address, port, headerTimeoutMs: HEADER_MS },
      scrapes(() => engine.shown(exporter), resource),
    );
  }
}
