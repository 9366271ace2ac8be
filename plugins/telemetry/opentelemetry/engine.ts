import { definePort, type EndpointConfig, type Port, type Site, timerMs } from '#contract';
import { telemetrySwitches } from '../../shared/ports/telemetry-switches.ts';
import { gatewayMetrics } from '../lib/metrics/relay.ts';
import type { MetricStore } from '../lib/metrics/store.ts';
import type { Propagation } from '../lib/tracing/propagator.ts';
import { ratioSampler } from '../lib/tracing/trace.ts';
import { type Destination, EndpointTelemetry } from './endpoint-telemetry.ts';
import type { Exporter } from './exporters.ts';
import type { HeaderReport } from './header-report.ts';
import { type Buckets, openInstruments } from './instruments.ts';
import { type BackendLayer, backendLayerOf, type Layer, layerOf, staticAttributes } from './layers.ts';
import { type SkippedPaths, skippedPaths } from './patterns.ts';
import type { EndpointOverride, OpenTelemetryConfig } from './schema.ts';

/** Lets the telemetry components of a configuration share one engine. */
export const engines: Port<Engine> = definePort('OpenTelemetry');

/** Settings that the service or the endpoint itself defines for one endpoint. */
type Override = EndpointOverride | undefined;

/** Returns whether an endpoint has settings of its own, which may also select exporters. */
export function hasOwnSettings({ extra_config: own }: EndpointConfig): boolean {
  return Object.hasOwn(own, 'telemetry/opentelemetry');
}

/** Settings of an engine. */
export interface EngineSettings {
  readonly config: OpenTelemetryConfig;
  readonly exporters: ReadonlyMap<string, Exporter>;
  readonly propagation: Propagation;
  /** Adds headers to the spans of clients' requests. Default: according to the configuration. */
  readonly headers?: HeaderReport | null;
}

/** The telemetry of one configuration: its destinations and the reporters of its endpoints. */
export class Engine {
  /** Reporters of the endpoints; null for endpoints that are not reported. */
  readonly endpoints = new WeakMap<EndpointConfig, EndpointTelemetry | null>();
  readonly skipped: SkippedPaths;
  readonly propagation: Propagation;
  /** The service's backend layer, for endpoints without settings of their own. */
  readonly backend: BackendLayer;
  readonly global: Layer;
  readonly destination: Destination;
  /** Whether whole requests may be recorded; otherwise their ends are not observed. */
  readonly observesRequests: boolean;
  /** Whether traces may be exported. */
  readonly exportsTraces: boolean;
  /** Metric store for other components; null if no exporter takes metrics. */
  readonly store: MetricStore | null;
  readonly #site: Site<unknown>;
  readonly #config: OpenTelemetryConfig;
  readonly #exporters: ReadonlyMap<string, Exporter>;
  readonly #proxy: Layer;
  readonly #readsContext: boolean;
  readonly #stores = new Map<string, MetricStore>();
  /** Stores shown by each scraped exporter. */
  readonly #shown = new Map<string, Set<MetricStore>>();

  constructor(site: Site<unknown>, { config, exporters, propagation, headers }: EngineSettings) {
    const { layers, skip_paths, trace_sample_rate } = config;
    this.#site = site;
    this.#config = config;
    this.#exporters = exporters;
    this.propagation = propagation;
    this.skipped = skippedPaths(skip_paths);
    this.global = layerOf(layers.global, headers);
    this.#proxy = layerOf(layers.proxy);
    this.backend = backendLayerOf(layers.backend);
    this.#readsContext = !layers.global?.disable_propagation;
    const all = [...exporters.values()];
    const metrics = all.filter(({ takesMetrics }) => takesMetrics);
    this.exportsTraces = all.some(({ family }) => family === 'otlp');
    this.store = metrics.length > 0 ? this.#open(metrics, undefined) : null;
    this.destination = {
      instruments: this.store && this.#instruments(this.store),
      traces: tracesTo(
        all.filter(({ takesTraces }) => takesTraces),
        trace_sample_rate,
      ),
    };
    const { instruments, traces } = this.destination;
    this.observesRequests =
      (instruments !== null && this.global.metrics !== null) ||
      (traces?.records === true && this.global.traces !== null) ||
      site.serving().endpoints.some(hasOwnSettings);
  }

  /** Returns the stores that a scraped exporter currently shows. */
  shown(exporter: string): MetricStore[] {
    return [...(this.#shown.get(exporter) ?? [])];
  }

  /** Adds a store to those that a scraped exporter shows. */
  show(exporter: string, store: MetricStore): void {
    const shown = this.#shown.get(exporter) ?? new Set();
    shown.add(store);
    this.#shown.set(exporter, shown);
  }

  /**
   * Creates the reporter of an endpoint.
   * @param override settings of the endpoint; each of its objects replaces the service's object entirely.
   * @throws ConfigError OTEL_EXPORTER_UNKNOWN
   */
  report(site: Site<unknown>, endpoint: EndpointConfig, override: Override): EndpointTelemetry | null {
    const telemetry = this.skipped.skipsPattern(endpoint.endpoint)
      ? null
      : new EndpointTelemetry(endpoint, switched(this.#destinationOf(site, override), site, endpoint), {
          global: override?.global ? this.#globalWith(override.global) : this.global,
          proxy: override?.proxy ? layerOf(override.proxy) : this.#proxy,
          backend: override?.backend ? backendLayerOf(override.backend) : this.backend,
          carried: this.#readsContext ? this.propagation : null,
        });
    this.endpoints.set(endpoint, telemetry);
    return telemetry;
  }

  #globalWith({ metrics_static_attributes, traces_static_attributes }: NonNullable<EndpointOverride['global']>): Layer {
    const { metrics, traces } = this.global;
    return {
      metrics: metrics && staticAttributes(metrics_static_attributes),
      traces: traces && { ...traces, attributes: staticAttributes(traces_static_attributes) },
    };
  }

  #destinationOf(site: Site<unknown>, override: Override): Destination {
    const other = override?.exporters_override;
    if (!other) return this.destination;
    const { metric_exporters, trace_exporters, metric_reporting_period, trace_sample_rate } = other;
    const named = (names: readonly string[] | undefined, field: string, isFit: (exporter: Exporter) => boolean) =>
      names?.map((name, at) => {
        const exporter = this.#exporters.get(name);
        if (exporter && isFit(exporter)) return exporter;
        const known = [...this.#exporters.values()].filter(isFit).map((each) => each.name);
        throw site.fault('OTEL_EXPORTER_UNKNOWN', `/exporters_override/${field}/${at}`, `unknown exporter "${name}"`, {
          hint: known.length > 0 ? `one of ${known.join(', ')}` : 'the service declares no exporters',
        });
      });
    const all = [...this.#exporters.values()];
    const metrics =
      named(metric_exporters, 'metric_exporters', () => true) ?? all.filter(({ takesMetrics }) => takesMetrics);
    const traces =
      named(trace_exporters, 'trace_exporters', ({ family }) => family === 'otlp') ??
      all.filter(({ takesTraces }) => takesTraces);
    const store = metrics.length > 0 ? this.#open(metrics, metric_reporting_period || undefined) : null;
    return {
      instruments: store && this.#instruments(store),
      traces: tracesTo(traces, trace_sample_rate ?? this.#config.trace_sample_rate),
    };
  }

  get #buckets(): Buckets {
    const { time_buckets: time, size_buckets: size } = this.#config.histograms as {
      readonly time_buckets: readonly number[];
      readonly size_buckets: readonly number[];
    };
    return { time, size };
  }

  #instruments(store: MetricStore) {
    return openInstruments(store, this.#buckets, this.#config.layers.global?.semantic_convention === '1.27');
  }

  /** Returns the store shared by a set of exporters; a new store is pushed or shown by all of them from then on. */
  #open(exporters: readonly Exporter[], periodSeconds: number | undefined): MetricStore {
    const names = exporters.map(({ name }) => name).sort();
    const key = { exporters: names, period: periodSeconds ?? 0, ...this.#buckets };
    const id = JSON.stringify(key);
    const known = this.#stores.get(id);
    if (known) return known;
    const store = gatewayMetrics(this.#site, key as never);
    this.#stores.set(id, store);
    for (const exporter of exporters) {
      if (exporter.otlp) this.#push(exporter, store, periodSeconds ?? exporter.periodSeconds);
      else this.show(exporter.name, store);
    }
    return store;
  }

  #push({ otlp }: Exporter, store: MetricStore, periodSeconds: number): void {
    const push = () => otlp!.push(store);
    this.#site.start((signal) => {
      const timer = setInterval(push, timerMs(periodSeconds * 1000));
      timer.unref();
      signal.addEventListener('abort', () => clearInterval(timer));
    });
    // The push is not awaited here, because the exporter waits for it when it closes.
    if (this.#site.role !== 'worker') this.#site.defer(() => void push());
  }
}

/** Removes the signals that the publisher of the endpoint has disabled. */
function switched(destination: Destination, site: Site<unknown>, endpoint: EndpointConfig): Destination {
  const switches = site.take(telemetrySwitches)?.(endpoint);
  if (!switches) return destination;
  const { instruments, traces } = destination;
  return { instruments: switches.metrics ? instruments : null, traces: switches.traces ? traces : null };
}

function tracesTo(exporters: readonly Exporter[], rate: number): Destination['traces'] {
  if (exporters.length === 0) return null;
  return { exporters: exporters.flatMap(({ otlp }) => otlp ?? []), sampler: ratioSampler(rate), records: rate > 0 };
}
