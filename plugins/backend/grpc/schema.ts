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
    client_tls: { ...clientTlsSchema, description: 'TLS settings for the server. Default: plain HTTP/2.' },
    use_request_body: {
      type: 'boolean',
      description: "Fills the message from the client's JSON body.",
      default: false,
    },
    disable_query_params: {
      type: 'boolean',
      description: 'Disables filling the message from path parameters and query strings.',
      default: false,
    },
    input_mapping: {
      type: 'object',
      values: { type: 'string', minLength: 1 },
      description:
        "Mapping of parameter names to dotted field paths. The names of path parameters are written with a capital first letter. Default: the field with the parameter's name.",
      default: {},
      examples: [{ Id_order: 'order.id' }],
    },
    header_mapping: {
      type: 'object',
      values: { type: 'string', minLength: 1 },
      description: 'Mapping of header names to metadata keys. Default: the header name in lowercase.',
      default: {},
      examples: [{ 'X-Tenant': 'tenant' }],
    },
    input_assume_bytes: {
      type: 'boolean',
      description:
        'Accepts strings that are not valid base64 for fields of type bytes and sends them unchanged. Default: such strings are rejected.',
      default: false,
    },
    request_naming_convention: {
      type: 'string',
      enum: namings,
      description: 'Naming convention of fields in request bodies and query strings.',
      default: 'snake_case',
    },
    response_naming_convention: {
      type: 'string',
      enum: namings,
      description: 'Naming convention of fields in responses.',
      default: 'snake_case',
    },
    output_enum_as_string: {
      type: 'boolean',
      description: 'Writes enums by name instead of by number.',
      default: false,
    },
    output_timestamp_as_string: {
      type: 'boolean',
      description: 'Writes timestamps in RFC 3339 format instead of as objects with seconds and nanos.',
      default: false,
    },
    output_duration_as_string: {
      type: 'boolean',
      description: 'Writes durations as strings like 3.5s instead of as objects with seconds and nanos.',
      default: false,
    },
    output_remove_unset_values: {
      type: 'boolean',
      description: 'Omits fields that the server did not set, instead of writing their zero values.',
      default: false,
    },
    idle_conn_disconnect_time: {
      type: 'duration',
      description: 'Idle timeout: time after which an unused connection to the server is closed.',
      default: '10m',
    },
    read_buffer_size: {
      type: 'integer',
      description: 'Read buffer size in bytes.',
      unused: { because: 'the runtime determines how much is read', unless: [0] },
      default: 0,
    },
    max_call_recv_msg_size: {
      type: 'integer',
      minimum: 0,
      description: 'Maximum size of a response message in bytes. 0 means 4 MiB.',
      default: 0,
    },
    use_alternate_host_on_error: {
      type: 'boolean',
      description: 'Avoids hosts that cannot be connected to, and retries a failed call once on another host.',
      default: false,
    },
  },
} as const satisfies Schema;

export type Config = Infer<typeof schema>;
