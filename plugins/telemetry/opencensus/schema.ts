import { HEADER_NAME_PATTERN, type Infer, type Schema } from '#contract';

const layer = (description: string) => ({ type: 'boolean', description, default: false }) as const;

/** Schema of an unsupported exporter, which accepts any content and ignores it. */
const unsupported = (of: string) =>
  ({
    type: 'object',
    values: { type: 'any' },
    description: 'Unsupported exporter.',
    unused: { because: `${of} is not supported: nothing is sent to it` },
  }) as const;

const unsupportedWith = <Secret extends string>(of: string, secret: Secret) =>
  ({
    ...unsupported(of),
    properties: { [secret]: { type: 'string', secret: true, description: 'Credential of the exporter.' } },
  }) as const;

const label = {
  type: 'boolean',
  description: 'Adds a label to metrics.',
  unused: { because: 'metrics have the labels of telemetry/opentelemetry' },
} as const;

export const serviceSchema = {
  type: 'object',
  title: 'OpenCensus',
  description: 'Predecessor of telemetry/opentelemetry: metrics for Prometheus, metrics and spans for a collector.',
  required: ['exporters'],
  examples: [
    { exporters: { prometheus: { port: 0 } } },
    { enabled_layers: { router: true, backend: true }, exporters: { prometheus: { port: 0 } } },
  ],
  properties: {
    sample_rate: {
      type: 'integer',
      minimum: 0,
      maximum: 100,
      description: 'Percentage of requests whose spans are recorded.',
      default: 0,
    },
    reporting_period: {
      type: 'integer',
      minimum: 0,
      description: 'Seconds between pushes of metrics. 0 means 30.',
      default: 0,
    },
    enabled_layers: {
      type: 'object',
      description: 'Layers to report. If set, only the layers that are enabled here are reported. Default: all layers.',
      properties: {
        router: layer('Client requests.'),
        pipe: layer('Endpoint pipelines.'),
        backend: layer('Backend calls.'),
      },
    },
    exporters: {
      type: 'object',
      minProperties: 1,
      description: 'Exporters of metrics and spans.',
      properties: {
        prometheus: {
          type: 'object',
          required: ['port'],
          description: 'Prometheus exporter, which serves /metrics on all addresses.',
          properties: {
            port: { type: 'integer', minimum: 0, maximum: 65535, description: 'Port number. 0 chooses a free port.' },
            namespace: {
              type: 'string',
              description: 'Prefix of metric names.',
              unused: { because: 'metrics have the names of telemetry/opentelemetry' },
            },
            tag_host: label,
            tag_path: label,
            tag_method: label,
            tag_statuscode: label,
          },
        },
        ocagent: {
          type: 'object',
          required: ['address'],
          description: 'Collector that receives OTLP over gRPC.',
          properties: {
            address: {
              type: 'string',
              minLength: 1,
              description: 'OTLP address of the collector, as host:port. Default port: 55678.',
              examples: ['collector:4317'],
            },
            service_name: { type: 'string', description: 'Service name.', default: '' },
            insecure: { type: 'boolean', description: 'Connects without TLS.', default: false },
            reconnection: {
              type: 'duration',
              description: 'Time to wait before reconnecting after a lost connection.',
              unused: { because: 'lost connections are reopened automatically' },
              examples: ['2s'],
            },
            enable_compression: {
              type: 'boolean',
              description: 'Compresses exported data.',
              unused: { because: 'exported data is never compressed', unless: [false] },
            },
            headers: {
              type: 'object',
              values: { type: 'string', secret: true },
              published: { propertyNames: { pattern: HEADER_NAME_PATTERN } },
              description: 'Headers sent to the collector with every request.',
              default: {},
            },
          },
        },
        logger: unsupported('the logger'),
        zipkin: unsupported('Zipkin'),
        jaeger: unsupported('the Jaeger protocol'),
        influxdb: unsupportedWith('InfluxDB', 'password'),
        xray: unsupportedWith('AWS X-Ray', 'secret_access_key'),
        stackdriver: unsupported('Stackdriver'),
        datadog: unsupported('Datadog'),
        newrelic: unsupportedWith('New Relic', 'api_key'),
      },
    },
  },
} as const satisfies Schema;

/** Namespace at an endpoint or a backend. */
export const pathSchema = {
  type: 'object',
  title: 'OpenCensus',
  description: 'Aggregation of metrics by path. The gateway always aggregates by the pattern of the endpoint.',
  examples: [{ path_aggregation: 'pattern' }],
  properties: {
    path_aggregation: {
      type: 'string',
      enum: ['pattern', 'lastparam', 'off'],
      description: 'Aggregation of metrics by path: `pattern` reports one series for all paths of an endpoint.',
      unused: { because: 'paths are aggregated by the pattern of their endpoint', unless: ['pattern'] },
    },
  },
} as const satisfies Schema;

export type OpenCensusConfig = Infer<typeof serviceSchema>;
