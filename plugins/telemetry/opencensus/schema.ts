import { HEADER_NAME_PATTERN, type Infer, type Schema } from '#contract';

const layer = (description: string) => ({ type: 'boolean', description, default: false }) as const;

/** Accepted as it is written, whatever stands in it. */
const unsupported = (of: string) =>
  ({
    type: 'object',
    values: { type: 'any' },
    description: 'Another place for metrics and spans.',
    unused: { because: `${of} is not supported, nothing is sent to it` },
  }) as const;

const unsupportedWith = <Secret extends string>(of: string, secret: Secret) =>
  ({
    ...unsupported(of),
    properties: { [secret]: { type: 'string', secret: true, description: 'A credential of it.' } },
  }) as const;

const label = {
  type: 'boolean',
  description: 'Whether metrics have the label.',
  unused: { because: 'labels are those of telemetry/opentelemetry' },
} as const;

export const serviceSchema = {
  type: 'object',
  title: 'OpenCensus',
  description: 'The predecessor of telemetry/opentelemetry: metrics for Prometheus, metrics and spans for a collector.',
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
      description: 'Seconds between pushes of metrics; 0 for 30.',
      default: 0,
    },
    enabled_layers: {
      type: 'object',
      description: 'What is reported. Default: everything; of an object that is there, what it switches on.',
      properties: {
        router: layer('Requests of clients.'),
        pipe: layer('The pipes of endpoints.'),
        backend: layer('The calls to backends.'),
      },
    },
    exporters: {
      type: 'object',
      minProperties: 1,
      description: 'Where metrics and spans go.',
      properties: {
        prometheus: {
          type: 'object',
          required: ['port'],
          description: 'A port that Prometheus scrapes, at /metrics, on all addresses.',
          properties: {
            port: { type: 'integer', minimum: 0, maximum: 65535, description: 'The port; 0 for any free one.' },
            namespace: {
              type: 'string',
              description: 'What names of metrics begin with.',
              unused: { because: 'names are those of telemetry/opentelemetry' },
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
          description: 'A collector, to which OTLP over gRPC is sent.',
          properties: {
            address: {
              type: 'string',
              minLength: 1,
              description: 'Where the collector takes OTLP, as host:port. Default of the port: 55678.',
              examples: ['collector:4317'],
            },
            service_name: { type: 'string', description: 'What the service is called.', default: '' },
            insecure: { type: 'boolean', description: 'Connect without TLS.', default: false },
            reconnection: {
              type: 'duration',
              description: 'After which it connects again.',
              unused: { because: 'it connects again by itself' },
              examples: ['2s'],
            },
            enable_compression: {
              type: 'boolean',
              description: 'Compress what is sent.',
              unused: { because: 'nothing is compressed', unless: [false] },
            },
            headers: {
              type: 'object',
              values: { type: 'string', secret: true },
              published: { propertyNames: { pattern: HEADER_NAME_PATTERN } },
              description: 'Headers of every request to the collector.',
              default: {},
            },
          },
        },
        logger: unsupported('the logger'),
        zipkin: unsupported('Zipkin'),
        jaeger: unsupported('the protocol of Jaeger'),
        influxdb: unsupportedWith('InfluxDB', 'password'),
        xray: unsupportedWith('AWS X-Ray', 'secret_access_key'),
        stackdriver: unsupported('Stackdriver'),
        datadog: unsupported('Datadog'),
        newrelic: unsupportedWith('New Relic', 'api_key'),
      },
    },
  },
} as const satisfies Schema;

/** Under an endpoint or a backend. */
export const pathSchema = {
  type: 'object',
  title: 'OpenCensus',
  description: 'How paths are told apart: always by the pattern of the endpoint.',
  examples: [{ path_aggregation: 'pattern' }],
  properties: {
    path_aggregation: {
      type: 'string',
      enum: ['pattern', 'lastparam', 'off'],
      description: 'What paths are told apart by; pattern: one series for all paths of an endpoint.',
      unused: { because: 'paths are told apart by the pattern of their endpoint', unless: ['pattern'] },
    },
  },
} as const satisfies Schema;

export type OpenCensusConfig = Infer<typeof serviceSchema>;
