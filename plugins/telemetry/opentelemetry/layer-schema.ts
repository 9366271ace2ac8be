import { HEADER_NAME_PATTERN } from '#contract';

export const flag = (description: string) => ({ type: 'boolean', description, default: false }) as const;

const attributes = (of: string) =>
  ({
    type: 'array',
    maxItems: 64,
    items: {
      type: 'object',
      required: ['key', 'value'],
      properties: {
        key: { type: 'string', description: 'Attribute name. Attributes with an empty name are ignored.' },
        value: { type: 'string', description: 'Attribute value. Attributes with an empty value are ignored.' },
      },
    },
    description: `Attributes to add to all ${of} of this layer.`,
    default: [],
    examples: [[{ key: 'team', value: 'checkout' }]],
  }) as const;

const headerReport = {
  report_headers: flag('Adds request and response headers to spans, except those with credentials.'),
  skip_headers: {
    type: 'array',
    items: { type: 'string', pattern: HEADER_NAME_PATTERN },
    description: 'Headers to exclude from spans.',
    default: [],
    examples: [['X-Internal-Id']],
  },
} as const;

export const staticAttributes = {
  metrics_static_attributes: attributes('metrics'),
  traces_static_attributes: attributes('spans'),
} as const;

const layerSwitches = {
  disable_metrics: flag('Disables metrics of this layer.'),
  disable_traces: flag('Disables spans of this layer.'),
} as const;

export const globalLayer = {
  type: 'object',
  description:
    'Telemetry of client requests, from the request headers to the end of the response. Default: metrics and spans.',
  properties: {
    ...layerSwitches,
    disable_propagation: flag('Starts a new trace for every request, regardless of trace headers from the client.'),
    ...headerReport,
    ...staticAttributes,
    semantic_convention: {
      type: 'string',
      enum: ['', '1.27'],
      description:
        'Version of the OpenTelemetry semantic conventions that determine metric names. If empty, the older names are used.',
      default: '',
    },
  },
} as const;

export const proxyLayer = {
  type: 'object',
  description:
    'Telemetry of the endpoint pipeline, from the accepted request to the merged response. Default: metrics and spans.',
  properties: { ...layerSwitches, ...headerReport, ...staticAttributes },
} as const;

const inSpansOnly = (name: keyof typeof headerReport) =>
  `metrics have no attributes from headers; set ${name} in "traces" to add headers to spans`;

/** Fields without effect: files of KrakenD contain them in `metrics`, where KrakenD ignores them. */
const unreportedHeaders = {
  report_headers: {
    type: 'boolean',
    description: 'Adds headers to spans. Has an effect in "traces" only.',
    unused: { because: inSpansOnly('report_headers'), unless: [false] },
  },
  skip_headers: {
    type: 'array',
    items: { type: 'string' },
    description: 'Names of headers to exclude from spans. Has an effect in "traces" only.',
    unused: { because: inSpansOnly('skip_headers') },
  },
} as const;

const clientSwitches = {
  disable_stage: flag(
    'Omits data about the processing of the backend call by components. Does not affect round_trip and read_payload.',
  ),
  round_trip: flag('Reports the time from sending the backend request to receiving the response headers.'),
  read_payload: flag('Reports the time for reading the response body.'),
  detailed_connection: flag('Reports the steps of obtaining or opening the connection to the backend.'),
} as const;

export const backendLayer = {
  type: 'object',
  description: 'Telemetry of backend calls. Default: metrics and spans.',
  properties: {
    metrics: {
      type: 'object',
      description:
        'Metrics of the layer. If set, only the metrics that are enabled here are reported. Default: all metrics.',
      properties: { ...clientSwitches, static_attributes: attributes('metrics'), ...unreportedHeaders },
    },
    traces: {
      type: 'object',
      description: 'Spans of the layer. If set, only the spans that are enabled here are recorded. Default: all spans.',
      properties: { ...clientSwitches, static_attributes: attributes('spans'), ...headerReport },
    },
  },
} as const;
