import { endpointPipeSchema, HEADER_NAME_PATTERN, type Schema } from '#contract';

const method = endpointPipeSchema(
  {
    name: { type: 'string', minLength: 1, description: 'The method, as in FindFlight.', examples: ['FindFlight'] },
    input_headers: {
      type: 'array',
      items: { type: 'string', pattern: `^\\*$|${HEADER_NAME_PATTERN}` },
      uniqueItems: true,
      description: 'Metadata that backends get, in any letter case; "*" for all.',
      default: [],
      examples: [['x-tenant']],
    },
    payload_params: {
      type: 'object',
      values: { type: 'string', pattern: '^[A-Za-z_][\\w-]*$' },
      description:
        'Dotted paths of fields of the message, and the parameters that backends may use for them as {name}.',
      default: {},
      examples: [{ 'page.cursor': 'cursor' }],
    },
  },
  {
    description: 'A method, and the backends that answer it.',
    components: ['auth/validator'],
    params: 'payload_params',
  },
);

export const serverSchema = {
  type: 'object',
  description: 'Services of the catalog that the gateway publishes, on its own port.',
  properties: {
    services: {
      type: 'array',
      description: 'What is published.',
      default: [],
      items: {
        type: 'object',
        description: 'A service.',
        required: ['name'],
        properties: {
          name: {
            type: 'string',
            minLength: 1,
            description: 'The service with its package.',
            examples: ['flight_finder.Flights'],
          },
          methods: {
            type: 'array',
            items: method,
            description: 'The methods that are published; others are UNIMPLEMENTED.',
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
      description: 'What telemetry/opentelemetry reports of the methods. Default: everything.',
      properties: {
        disable_metrics: { type: 'boolean', description: 'Measure no calls.', default: false },
        disable_traces: { type: 'boolean', description: 'Record no spans of calls.', default: false },
      },
      default: {},
    },
  },
} as const satisfies Schema;
