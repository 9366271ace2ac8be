import type { Infer, Schema } from '#contract';
import { TIME_BOUNDS } from '../lib/metrics/store.ts';
import { backendLayer, flag, globalLayer, proxyLayer, staticAttributes } from './layer-schema.ts';

/** Default interval between pushes of metrics, in seconds; also used for 0. */
export const REPORTING_SECONDS = 30;

const text = (description: string, example: string) =>
  ({ type: 'string', description, default: '', examples: [example] }) as const;

const seconds = (description: string) => ({ type: 'integer', minimum: 0, description, default: 0 }) as const;

const port = (description: string) => ({ type: 'integer', minimum: 0, maximum: 65535, description }) as const;

const exporterName = { type: 'string', minLength: 1, description: 'Exporter name. Must be unique.' } as const;

const bounds = (description: string, initial: readonly number[]) =>
  ({
    type: 'array',
    items: { type: 'number', exclusiveMinimum: 0 },
    minItems: 1,
    maxItems: 200,
    description,
    default: initial,
  }) as const;

const sampleRate = {
  type: 'number',
  minimum: 0,
  maximum: 1,
  description: 'Fraction of requests whose spans are recorded, from 0 (none) to 1 (all).',
} as const;

const otlpExporter = {
  type: 'object',
  required: ['name', 'host'],
  properties: {
    name: exporterName,
    host: {
      type: 'string',
      minLength: 1,
      description: 'Host name or IP address of the collector. The prefix https:// enables TLS.',
      examples: ['https://otel.internal'],
    },
    port: port('Port of the collector. Default: 4317, or 4318 with use_http.'),
    use_http: flag('Sends protobuf over HTTP to /v1/traces and /v1/metrics instead of gRPC.'),
    disable_metrics: flag('Sends no metrics, except for endpoints that list the exporter in exporters_override.'),
    disable_traces: flag('Sends no spans, except for endpoints that list the exporter in exporters_override.'),
    custom_metric_reporting_period: seconds('Seconds between pushes of metrics. 0 means metric_reporting_period.'),
  },
} as const;

const prometheusExporter = {
  type: 'object',
  required: ['name'],
  properties: {
    name: exporterName,
    port: { ...port('Port that serves /metrics. 0 chooses a free port.'), default: 9090 },
    listen_ip: { type: 'string', description: 'Listen address. Default: 0.0.0.0.', examples: ['127.0.0.1'] },
    host: { type: 'string', description: 'Deprecated name of listen_ip.', deprecated: true },
    process_metrics: flag('Exports CPU time, memory, open files and start time of the processes.'),
    go_metrics: flag('Exports event loop delay, heap and garbage collection, as nodejs_*.'),
    disable_metrics: flag('Exports no metrics, except for endpoints that list the exporter in exporters_override.'),
    custom_metric_reporting_period: {
      ...seconds('Reporting interval in seconds.'),
      unused: { because: 'Prometheus determines the interval', unless: [0] },
    },
  },
} as const;

export const serviceSchema = {
  type: 'object',
  title: 'OpenTelemetry',
  description: 'Exporters and settings for metrics and traces of the gateway, its endpoints and their backends.',
  required: ['exporters'],
  examples: [
    {
      exporters: { prometheus: [{ name: 'local', port: 0, listen_ip: '127.0.0.1', process_metrics: true }] },
      skip_paths: ['/health'],
      layers: { backend: { metrics: { round_trip: true } } },
    },
    {
      service_name: 'shop',
      deploy_env: 'production',
      trace_sample_rate: 0.1,
      exporters: {
        otlp: [{ name: 'collector', host: 'localhost', use_http: true }],
      },
      layers: {
        global: { metrics_static_attributes: [{ key: 'region', value: 'eu' }], semantic_convention: '1.27' },
        proxy: { report_headers: true },
      },
    },
  ],
  properties: {
    service_name: text("Service name. Default: the configuration's name, or Sluice.", 'shop'),
    service_version: text("Service version. Default: the gateway's version.", '2.1.0'),
    deploy_env: text('Deployment environment. Omitted if empty.', 'production'),
    metric_reporting_period: {
      type: 'integer',
      minimum: 0,
      description: `Seconds between pushes of metrics over OTLP; 0 means ${REPORTING_SECONDS}.`,
      default: REPORTING_SECONDS,
    },
    trace_sample_rate: { ...sampleRate, default: 1 },
    skip_paths: {
      type: 'array',
      items: { type: 'string' },
      description:
        'Endpoint paths and patterns to exclude. A path that ends with / also excludes all paths below it. [""] excludes no path. Default, also for an empty list: the gateway\'s own paths.',
      default: [],
      examples: [['/health', '/internal/{id}']],
    },
    exporters: {
      type: 'object',
      description: 'Exporters of metrics and spans. At least one is required.',
      properties: {
        otlp: {
          type: 'array',
          items: otlpExporter,
          maxItems: 16,
          description: 'OTLP collectors.',
          default: [],
        },
        prometheus: {
          type: 'array',
          items: prometheusExporter,
          maxItems: 16,
          description: 'Ports for Prometheus to scrape. With several workers, values can be up to one second old.',
          default: [],
        },
      },
    },
    histograms: {
      type: 'object',
      description: 'Histogram bucket boundaries in ascending order. Changing them starts new series.',
      properties: {
        time_buckets: bounds('In seconds.', TIME_BOUNDS),
        size_buckets: bounds(
          'In bytes.',
          [
            128, 256, 512, 1024, 4096, 8192, 16_384, 32_768, 65_536, 262_144, 524_288, 1_048_576, 4_194_304, 16_777_216,
            67_108_864,
          ],
        ),
      },
      default: {},
    },
    layers: {
      type: 'object',
      description: 'Layers to report, with their settings. Default: all layers.',
      properties: {
        global: globalLayer,
        proxy: proxyLayer,
        backend: backendLayer,
      },
      default: {},
    },
  },
} as const satisfies Schema;

export const endpointSchema = {
  type: 'object',
  title: 'OpenTelemetry of an endpoint',
  description:
    'Settings of the endpoint. Each object that is set here replaces the object of the same name at the service level as a whole.',
  examples: [{ proxy: { report_headers: true }, backend: { metrics: { disable_stage: true } } }],
  properties: {
    global: {
      type: 'object',
      description: 'Attributes of the outermost layer, client requests.',
      properties: staticAttributes,
    },
    proxy: proxyLayer,
    backend: backendLayer,
    exporters_override: {
      type: 'object',
      description: "Exporters and sampling of the endpoint, replacing the service's.",
      properties: {
        metric_exporters: {
          type: 'array',
          items: { type: 'string' },
          description: "Exporter names. Default: the service's exporters.",
          examples: [['local']],
        },
        trace_exporters: {
          type: 'array',
          items: { type: 'string' },
          description: "OTLP exporter names. Default: the service's exporters.",
          examples: [['collector']],
        },
        metric_reporting_period: {
          type: 'integer',
          minimum: 0,
          description:
            "Seconds between pushes of metrics. 0 means the exporter's interval. Default: the exporter's interval.",
        },
        trace_sample_rate: {
          ...sampleRate,
          description: `${sampleRate.description} Default: the sample rate of the service.`,
        },
      },
    },
  },
} as const satisfies Schema;

export const backendSchema = {
  type: 'object',
  title: 'OpenTelemetry of a backend',
  description: 'Backend settings. They replace the settings of the endpoint and the service.',
  examples: [{ backend: { traces: { round_trip: true } } }],
  properties: { backend: backendLayer },
} as const satisfies Schema;

export type OpenTelemetryConfig = Infer<typeof serviceSchema>;
export type EndpointOverride = Infer<typeof endpointSchema>;
export type GlobalLayerConfig = Infer<typeof globalLayer>;
export type ProxyLayerConfig = Infer<typeof proxyLayer>;
export type BackendLayerConfig = Infer<typeof backendLayer>;
export type OtlpExporterConfig = Infer<typeof otlpExporter>;
