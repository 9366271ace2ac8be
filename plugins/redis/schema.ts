import { clientTlsSchema, HOST_AND_PORT, type Infer, type Schema } from '#contract';

const oneConnection = 'commands share one connection and are sent without waiting for earlier responses';
const staysOpen = 'the single connection stays open';
const noReports = 'Redis commands are neither measured nor traced';
const duration = (description: string, initial: string, example: string) =>
  ({ type: 'duration', description, default: initial, examples: [example] }) as const;
const ignored = (description: string, because: string, ...unless: number[]) =>
  ({ type: 'integer', description, unused: { because, unless } }) as const;
const ignoredTime = (description: string, because: string, ...unless: string[]) =>
  ({ type: 'duration', description, unused: { because, unless }, examples: ['30s'] }) as const;
const flag = (description: string) =>
  ({ type: 'boolean', description, unused: { because: noReports, unless: [true] } }) as const;

const address = {
  type: 'string',
  minLength: 1,
  published: { pattern: `^(?:${HOST_AND_PORT}|[^:]+|\\[[^\\]]+\\])$` },
  description: 'Host and port. Default port: 6379, or 26379 for sentinels.',
  examples: ['redis.internal:6379'],
} as const;

const name = {
  type: 'string',
  minLength: 1,
  description: 'Connection name that components refer to. Must be unique.',
  examples: ['counters'],
} as const;

/** Fields common to all kinds of connections. */
const fields = {
  user_name: { type: 'string', description: 'Redis user name (ACL).', examples: ['gateway'] },
  password: { type: 'string', secret: true, description: 'Password of the user or server.' },
  client_name: { type: 'string', description: "Client name shown in the server's client list.", examples: ['gateway'] },
  dial_timeout: duration(
    'Connect timeout. Also the time after which the connection to an unresponsive server is reopened.',
    '5s',
    '1s',
  ),
  command_timeout: duration('Response timeout, at most half of the remaining time of the request.', '500ms', '100ms'),
  min_retry_backoff: duration(
    'Pause before the second connection attempt. It doubles with each further attempt.',
    '8ms',
    '50ms',
  ),
  max_retry_backoff: duration('Maximum pause between connection attempts.', '512ms', '5s'),
  max_retries: {
    type: 'integer',
    minimum: -1,
    description: 'Maximum number of retries per command. -1 disables retries.',
    unused: {
      because: 'commands are never repeated, because the server may have executed the first attempt',
      unless: [-1],
    },
  },
  pool_size: ignored('Maximum number of connections. 0 uses the default.', oneConnection, 0),
  min_idle_conns: ignored('Minimum number of idle connections.', oneConnection, 0),
  max_idle_conns: ignored('Maximum number of idle connections. 0 disables the limit.', oneConnection, 0),
  max_active_conns: ignored('Maximum number of active connections. 0 disables the limit.', oneConnection, 0),
  pool_timeout: ignoredTime('Maximum time to wait for a connection.', 'commands never wait for a connection'),
  conn_max_idle_time: ignoredTime('Idle timeout of a connection.', staysOpen, '0s', '-1s'),
  conn_max_life_time: ignoredTime('Maximum age of a connection.', staysOpen, '0s', '-1s'),
  tls: {
    ...clientTlsSchema,
    title: 'TLS to Redis',
    description: 'TLS settings. Default: no TLS. File paths are relative to the working directory.',
  },
  opentelemetry: {
    type: 'object',
    properties: {
      disable_metrics: flag('Disables metrics of the connection.'),
      disable_traces: flag('Disables spans of the connection.'),
      traces_static_attributes: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            key: { type: 'string', description: 'Attribute name.' },
            value: { type: 'string', description: 'Attribute value.' },
          },
        },
        description: 'Attributes that are added to all spans of the connection.',
        unused: { because: noReports },
      },
    },
    description: 'Telemetry of the connection.',
  },
} as const satisfies Record<string, Schema>;

const addresses = (description: string, example: readonly string[]) =>
  ({ type: 'array', items: address, minItems: 1, description, examples: [example] }) as const;

export const schema = {
  type: 'object',
  title: 'Redis',
  examples: [
    { connection_pools: [{ name: 'counters', address: 'redis.internal:6379', db: 1, dial_timeout: '1s' }] },
    { clusters: [{ name: 'counters', addresses: ['redis-0.internal:6379', 'redis-1.internal:6379'] }] },
    {
      sentinels: [
        {
          name: 'counters',
          master_name: 'main',
          addresses: ['sentinel-0.internal:26379', 'sentinel-1.internal:26379'],
          client_name: 'gateway',
        },
      ],
    },
  ],
  properties: {
    connection_pools: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'address'],
        properties: {
          name,
          address,
          db: { type: 'integer', minimum: 0, description: 'Database number.', default: 0, examples: [1] },
          ...fields,
        },
      },
      description: 'Connections to single servers.',
      default: [],
    },
    clusters: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'addresses'],
        properties: {
          name,
          addresses: addresses('Cluster nodes used to discover the others.', [
            'redis-0.internal:6379',
            'redis-1.internal:6379',
          ]),
          max_redirects: {
            type: 'integer',
            minimum: 0,
            description: 'Maximum number of redirections per command.',
            default: 3,
          },
          ...fields,
        },
      },
      description: 'Connections to Redis Cluster.',
      default: [],
    },
    sentinels: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'master_name', 'addresses'],
        properties: {
          name,
          master_name: {
            type: 'string',
            minLength: 1,
            description: 'Name of the master monitored by the sentinels.',
            examples: ['main'],
          },
          addresses: addresses('Sentinels. They are queried in order for the current master.', [
            'sentinel-0.internal:26379',
          ]),
          db: { type: 'integer', minimum: 0, description: 'Database number.', default: 0, examples: [1] },
          sentinel_user_name: { type: 'string', description: 'User name for the sentinels. Default: none.' },
          sentinel_password: {
            type: 'string',
            secret: true,
            description: 'Password for the sentinels. Default: none.',
          },
          ...fields,
        },
      },
      description: 'Connections to masters monitored by Redis Sentinel.',
      default: [],
    },
  },
} as const satisfies Schema;

export type RedisConfig = Infer<typeof schema>;
export type PoolConfig = RedisConfig['connection_pools'][number];
export type ClusterConfig = RedisConfig['clusters'][number];
export type SentinelConfig = RedisConfig['sentinels'][number];
