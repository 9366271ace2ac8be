import { clientTlsSchema, HOST_AND_PORT, type Infer, type Schema } from '#contract';

const duration = (description: string, initial: string, example: string) =>
  ({ type: 'duration', description, default: initial, examples: [example] }) as const;
const text = (description: string, example: string) => ({ type: 'string', description, examples: [example] }) as const;

/** Schema of the SASL authentication. */
const saslSchema = {
  type: 'object',
  title: 'SASL',
  description: 'SASL authentication at the brokers. Default: none.',
  properties: {
    mechanism: {
      type: 'string',
      enum: ['PLAIN', 'OAUTHBEARER', 'SCRAM-SHA-256', 'SCRAM-SHA-512'],
      description: 'SASL mechanism.',
      default: 'PLAIN',
    },
    user: text('User name for the SASL login at the brokers.', 'gateway'),
    password: { type: 'string', secret: true, description: 'Password of the user, or the token for OAUTHBEARER.' },
    auth_identity: text('Authorization identity, with PLAIN.', 'orders'),
    scram_auth_id: text('Authorization identity, with SCRAM. Not supported.', 'orders'),
    azure_event_hub: {
      type: 'boolean',
      description: 'Uses version 0 of the SASL handshake. Not supported.',
      default: false,
    },
    disable_hanshake: {
      type: 'boolean',
      description: 'Sends the SASL handshake, contrary to the name of the field. Must be true.',
      default: true,
    },
  },
} as const satisfies Schema;

/** Schema of the connection to a cluster. */
export const clusterSchema = {
  type: 'object',
  title: 'Kafka cluster',
  description: 'Kafka cluster: brokers, authentication and TLS.',
  required: ['brokers'],
  properties: {
    brokers: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', published: { pattern: `^${HOST_AND_PORT}$` }, examples: ['kafka.internal:9092'] },
      description: 'Host and port of the bootstrap brokers.',
      examples: [['kafka-0.internal:9092', 'kafka-1.internal:9092']],
    },
    client_tls: {
      ...clientTlsSchema,
      title: 'TLS to Kafka',
      description: 'TLS settings. Default: no TLS. File paths are relative to the working directory.',
    },
    sasl: saslSchema,
    dial_timeout: duration('Connect timeout.', '30s', '5s'),
    read_timeout: duration('Response timeout.', '30s', '10s'),
    write_timeout: {
      ...duration('Write timeout of a request.', '30s', '10s'),
      unused: { because: 'a request that cannot be written has no response within read_timeout' },
    },
    keep_alive: duration('TCP keep-alive interval. 0s disables it.', '0s', '30s'),
    client_id: text('Client ID sent to the brokers, without white space. Default: sluice and its version.', 'gateway'),
    rack_id: text('Rack of the gateway, to read from nearby replicas. Default: none.', 'eu-west-1a'),
    channel_buffer_size: {
      type: 'integer',
      minimum: 0,
      description: 'Number of records to read ahead.',
      default: 256,
      examples: [100],
    },
    metadata_retry_max: {
      type: 'integer',
      minimum: 0,
      description: 'Maximum number of retries when looking up the leaders of topics.',
      default: 3,
      examples: [5],
    },
    metadata_retry_backoff: duration('Pause between retries.', '250ms', '1s'),
  },
} as const satisfies Schema;

/** Schema of a consumer's group membership. */
export const groupSchema = {
  type: 'object',
  title: 'Kafka consumer group',
  description: 'Consumer group, whose members share the records and their offsets.',
  properties: {
    id: text('Group ID.', 'gateways'),
    session_timeout: duration(
      'Session timeout: time without heartbeats after which a member loses its partitions.',
      '10s',
      '30s',
    ),
    heartbeat_interval: duration('Heartbeat interval. Must be less than session_timeout.', '3s', '5s'),
    rebalance_timeout: duration(
      'Rebalance timeout: maximum time for all members to rejoin. At least session_timeout.',
      '60s',
      '30s',
    ),
    rebalance_strategies: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', enum: ['range', 'roundrobin', 'sticky'] },
      description:
        'Partition assignment strategy: range or roundrobin. Exactly one, the same for all members. sticky is not supported.',
      default: ['range'],
      examples: [['roundrobin']],
    },
    instance_id: text(
      'Static member ID: keeps its partitions across restarts. Must be unique per gateway.',
      'gateway-0',
    ),
    fetch_default: {
      type: 'integer',
      minimum: 1,
      description: 'Maximum number of bytes per fetch. Default: 1 MB.',
      default: 1_048_576,
      examples: [262_144],
    },
    isolation_level: {
      type: 'string',
      enum: ['read_commited', 'read_uncommited', 'read_committed', 'read_uncommitted'],
      description: 'Isolation level: `read_commited` hides records of aborted and unfinished transactions.',
      default: 'read_commited',
    },
  },
} as const satisfies Schema;

export type ClusterConfig = Infer<typeof clusterSchema>;
export type GroupConfig = Infer<typeof groupSchema>;
