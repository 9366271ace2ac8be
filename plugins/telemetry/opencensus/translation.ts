import { type OpenTelemetryConfig, serviceSchema } from '../opentelemetry/schema.ts';
import type { OpenCensusConfig } from './schema.ts';

/** Name of the exporter for a collector. */
export const OCAGENT = 'ocagent';

const { time_buckets, size_buckets } = serviceSchema.properties.histograms.properties;
const histograms = { time_buckets: time_buckets.default, size_buckets: size_buckets.default };

/** OTLP address of a collector. */
export interface Collector {
  readonly host: string;
  readonly port: number;
}

/** Translates an OpenCensus configuration to OpenTelemetry. */
export function telemetryOf(config: OpenCensusConfig, collector: Collector | null): OpenTelemetryConfig {
  const { sample_rate, reporting_period, enabled_layers: enabled, exporters } = config;
  const { prometheus, ocagent } = exporters;
  const shared = {
    report_headers: false,
    skip_headers: [],
  };
  const layer = (isOn: boolean | undefined) => ({
    ...shared,
    disable_metrics: isOn === false,
    disable_traces: isOn === false,
    metrics_static_attributes: [],
    traces_static_attributes: [],
  });
  const callsAreOn = enabled?.backend ?? true;
  const calls = {
    ...shared,
    disable_stage: !callsAreOn,
    round_trip: callsAreOn,
    read_payload: callsAreOn,
    detailed_connection: false,
    static_attributes: [],
  };
  return {
    service_name: ocagent?.service_name ?? '',
    service_version: '',
    deploy_env: '',
    metric_reporting_period: reporting_period || 30,
    trace_sample_rate: sample_rate / 100,
    skip_paths: [],
    exporters: {
      otlp: collector
        ? [
            {
              name: OCAGENT,
              host: ocagent?.insecure ? collector.host : `https://${collector.host}`,
              port: collector.port,
              use_http: false,
              disable_metrics: false,
              disable_traces: false,
              custom_metric_reporting_period: 0,
            },
          ]
        : [],
      prometheus: prometheus
        ? [
            {
              name: 'prometheus',
              port: prometheus.port,
              process_metrics: true,
              go_metrics: false,
              disable_metrics: false,
              custom_metric_reporting_period: 0,
            },
          ]
        : [],
    },
    histograms,
    layers: {
      global: { ...layer(enabled?.router), disable_propagation: false, semantic_convention: '' },
      proxy: layer(enabled?.pipe),
      backend: { metrics: calls, traces: calls },
    },
  };
}
