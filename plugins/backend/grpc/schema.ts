import { clientTlsSchema, type Infer, type Schema } from '#contract';

const namings = ['snake_case', 'camelCase'] as const;

export const schema = {
  type: 'object',
  title: 'gRPC backend',
  examples: [
    {},
    {
      input_mapping: { lat: 'where.latitude' },
      header_mapping: { 'X-Tenant': 'tenant' },
      output_enum_as_string: true,
      output_timestamp_as_string: true,
    },
  ],
  properties: {
    client_tls: { ...clientTlsSchema, description: 'TLS towards the server. Default: plain HTTP/2.' },
    use_request_body: {
      type: 'boolean',
      description: "Fill the message from the client's JSON body.",
      default: false,
    },
    disable_query_params: {
      type: 'boolean',
      description: 'Fill the message from no variables of the path and no query strings.',
      default: false,
    },
    input_mapping: {
      type: 'object',
      values: { type: 'string', minLength: 1 },
      description:
        'Parameters and the dotted paths of fields they fill; variables of the path with their first letter in upper case. Default: the field of that name.',
      default: {},
      examples: [{ Id_order: 'order.id' }],
    },
    header_mapping: {
      type: 'object',
      values: { type: 'string', minLength: 1 },
      description: 'Headers and the metadata keys they are sent as. Default: their name in lower case.',
      default: {},
      examples: [{ 'X-Tenant': 'tenant' }],
    },
    input_assume_bytes: {
      type: 'boolean',
      description: 'A text for a field of bytes that is no base64 is sent as it is. Default: it is refused.',
      default: false,
    },
    request_naming_convention: {
      type: 'string',
      enum: namings,
      description: 'Names of fields in bodies and query strings.',
      default: 'snake_case',
    },
    response_naming_convention: {
      type: 'string',
      enum: namings,
      description: 'Names of fields in the data.',
      default: 'snake_case',
    },
    output_enum_as_string: { type: 'boolean', description: 'Enums by name. Default: by number.', default: false },
    output_timestamp_as_string: {
      type: 'boolean',
      description: 'Timestamps as in RFC 3339. Default: objects of seconds and nanos.',
      default: false,
    },
    output_duration_as_string: {
      type: 'boolean',
      description: 'Durations as in 3.5s. Default: objects of seconds and nanos.',
      default: false,
    },
    output_remove_unset_values: {
      type: 'boolean',
      description: 'Fields that the server has not set are left out. Default: they have their zero value.',
      default: false,
    },
    idle_conn_disconnect_time: {
      type: 'duration',
      description: 'Connections without a call for that long are closed.',
      default: '10m',
    },
    read_buffer_size: {
      type: 'integer',
      description: 'Bytes read at once.',
      unused: { because: 'connections are read as the runtime does', unless: [0] },
      default: 0,
    },
    max_call_recv_msg_size: {
      type: 'integer',
      minimum: 0,
      description: 'Largest message of the server in bytes; 0 for 4 MiB.',
      default: 0,
    },
    use_alternate_host_on_error: {
      type: 'boolean',
      description:
        'Hosts that could not be connected to are avoided, and a call that one cannot take goes to another, once.',
      default: false,
    },
  },
} as const satisfies Schema;

export type Config = Infer<typeof schema>;
