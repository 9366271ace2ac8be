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
      description: 'Parameter names by dotted field path of the message. Backends use them as {name}.',
      default: {},
      examples: [{ 'page.cursor': 'cursor' }],
    },
  },
  {
    description: 'A method and the backends that answer it.',
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
      description: 'Published services.',
      default: [],
      items: {
        type: 'object',
        description: 'A published service.',
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
            description: 'Published methods. Other methods return UNIMPLEMENTED.',
            default: [],
          },
        },
      },
    },
    max_elements: {
      type: 'integer',
      minimum: 0,
      description:
        'Maximum number of elements in a request message: fields, list items and map entries, nested messages included; 16 packed numbers count as one. Larger messages are rejected with RESOURCE_EXHAUSTED, because decoding them would delay every other request. 0 disables the limit.',
      default: 20_000,
    },
    opentelemetry: {
      type: 'object',
      description: 'Telemetry of the methods reported by telemetry/opentelemetry. Default: all of it.',
      properties: {
        disable_metrics: { type: 'boolean', description: 'Disables metrics of the calls.', default: false },
        disable_traces: { type: 'boolean', description: 'Disables spans of the calls.', default: false },
      },
      default: {},
    },
  },
} as const satisfies Schema;
