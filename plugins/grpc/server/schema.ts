import { endpointPipeSchema, HEADER_NAME_PATTERN, type Schema } from '#contract';

const method = endpointPipeSchema(
  {
    name: {
      type: 'string',
      minLength: 1,
      description: 'Method name, for example FindFlight.',
      examples: ['FindFlight'],
    },
    input_headers: {
      type: 'array',
      items: { type: 'string', pattern: `^\\*$|${HEADER_NAME_PATTERN}` },
      uniqueItems: true,
      description: 'Request metadata passed to backends, case-insensitive. "*" passes all.',
      default: [],
      examples: [['x-tenant']],
    },
    payload_params: {
      type: 'object',
      values: { type: 'string', pattern: '^[A-Za-z_][\\w-]*$' },
      description:
        'Mapping of dotted field paths of the message to parameter names. Backends can use the parameters as {name}.',
      default: {},
      examples: [{ 'page.cursor': 'cursor' }],
    },
  },
  {
    description: 'A method and the backends whose results form its response.',
    components: ['auth/validator', 'auth/introspection'],
    params: 'payload_params',
  },
);

export const serverSchema = {
  type: 'object',
  description: 'Services from the catalog that the gateway publishes on its own port.',
  properties: {
    services: {
      type: 'array',
      description: 'gRPC services that the gateway offers to its clients.',
      default: [],
      items: {
        type: 'object',
        description: 'A gRPC service that the gateway offers to its clients.',
        required: ['name'],
        properties: {
          name: {
            type: 'string',
            minLength: 1,
            description: 'Service name including its package.',
            examples: ['flight_finder.Flights'],
          },
          methods: {
            type: 'array',
            items: method,
            description: 'Methods of the service that clients can call. Other methods return UNIMPLEMENTED.',
            default: [],
          },
        },
      },
    },
    max_elements: {
      type: 'integer',
      minimum: 0,
      description:
        'Maximum number of elements in a request message: all fields, list items and map entries, including those of nested messages. 16 packed numbers count as one element. Larger messages are rejected with RESOURCE_EXHAUSTED, because decoding them would delay every other request. 0 disables the limit.',
      default: 20_000,
    },
    opentelemetry: {
      type: 'object',
      description: 'Telemetry of the published methods in telemetry/opentelemetry. Default: metrics and spans.',
      properties: {
        disable_metrics: { type: 'boolean', description: 'Disables metrics of the published methods.', default: false },
        disable_traces: { type: 'boolean', description: 'Disables spans of the published methods.', default: false },
      },
      default: {},
    },
  },
} as const satisfies Schema;
