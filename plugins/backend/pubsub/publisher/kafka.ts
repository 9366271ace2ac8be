// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { atBackend, type BackendSite, canonicalHeaderName, definePlugin, type Infer, type Schema } from '#contract';
import { type ProducerSettings, standardProducer } from '../../../clients/kafka/producer/producer.ts';
import { clusterSchema } from '../../../clients/kafka/schema.ts';
import { readCluster } from '../../../clients/kafka/settings.ts';
import { checkTopic, keepProducer } from '../lib/kafka.ts';
import { publishing } from '../lib/publish.ts';

const duration = (description: string, initial: string, example: string) =>
  ({ type: 'duration', description, default: initial, examples: [example] }) as const;

const producerSchema = {
  type: 'object',
  title: 'Kafka producer',
  description: 'Settings of the Kafka producer.',
  properties: {
    max_message_bytes: {
      type: 'integer',
      minimum: 0,
      description: 'Maximum size in bytes of a record and of a batch.',
      default: standardProducer.maxBytes,
      examples: [262_144],
    },
    required_acks: {
      type: 'string',
      published: { pattern: '^(?:no_response|wait_for_local|wait_for_all|1)$' },
      description:
        'Acknowledgments to wait for: `no_response` waits for none, `wait_for_local` for the leader, `wait_for_all` for all in-sync replicas.',
      default: 'wait_for_local',
      examples: ['wait_for_all'],
    },
    required_acks_timeout: duration('Time that the leader waits for replicas.', '10s', '5s'),
    compression_codec: {
      type: 'string',
      enum: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
      description: 'Compression codec of records.',
      default: 'none',
      examples: ['lz4'],
    },
    compression_level: { type: 'string', description: 'Compression level. Not supported.' },
    partitioner: {
      type: 'string',
      enum: ['standard', 'sarama', 'random', 'roundrobin'],
      description:
        'Partitioner for records with a key: `standard` hashes the key like the Java client, `sarama` with FNV-1a. Records without a key can go to any partition.',
      default: 'standard',
      examples: ['roundrobin'],
    },
    idempotent: {
      type: 'boolean',
      description:
        'Enables the idempotent producer: retries do not duplicate records. Waits for all in-sync replicas regardless of required_acks.',
      default: false,
    },
    retry_max: {
      type: 'integer',
      minimum: 0,
      description: 'Maximum number of retries. At least 1 with `idempotent`.',
      default: 3,
      examples: [1],
    },
    retry_backoff: duration('Pause between retries.', '100ms', '500ms'),
  },
} as const satisfies Schema;

const schema = {
  type: 'object',
  title: 'Kafka publisher',
  examples: [
    {
      success_status_code: 201,
      writer: {
        topic: 'orders',
        cluster: {
          brokers: ['kafka.internal:9093'],
          client_tls: {},
          sasl: { mechanism: 'SCRAM-SHA-512', user: 'gateway', password: '${PASSWORD}' },
        },
        producer: { required_acks: 'wait_for_all', compression_codec: 'lz4' },
      },
    },
    { writer: { topic: 'orders', cluster: { brokers: ['kafka.internal:9092'] }, producer: { idempotent: true } } },
  ],
  required: ['writer'],
  properties: {
    success_status_code: {
      type: 'integer',
      enum: [200, 201],
      description: 'Response status after the record is written.',
      default: 200,
      examples: [201],
    },
    writer: {
      type: 'object',
      description: 'Settings of the Kafka topic and of the producer that writes to it.',
      required: ['topic', 'cluster'],
      properties: {
        topic: { type: 'string', minLength: 1, description: 'Topic name.', examples: ['orders'] },
        cluster: clusterSchema,
        producer: { ...producerSchema, default: {} },
        key_meta: {
          type: 'string',
          minLength: 1,
          description: 'Request header whose first value becomes the record key. Default: records have no key.',
          examples: ['X-Order'],
        },
      },
    },
  },
} as const satisfies Schema;

type Config = Infer<typeof schema>;
type ProducerConfig = Config['writer']['producer'];

/**
 * Writes the body of each request to a topic. Supports TLS, SASL and all other settings that the `kafka` scheme lacks.
 *
 * Configuration faults: `KAFKA_TOPIC`, `KAFKA_BROKER`, `KAFKA_CLIENT_ID`, `KAFKA_DURATION`, `KAFKA_OPTION`,
 * `KAFKA_SASL` and those of `client_tls`; warnings `KAFKA_KEY`, `PUBSUB_CONCURRENT`. Call errors: `KAFKA_SIZE`,
 * `KAFKA_SLOW`, `KAFKA_FAILED`, `BROKER_NOT_CONNECTED`.
 */
export const plugin = definePlugin({
  name: 'backend/pubsub/publisher/kafka',
  description: 'Writes the body of each request to a Kafka topic.',
  hostless: true,
  places: [
    atBackend(schema, (site) => {
      const { writer, success_status_code: status } = site.config;
      checkTopic(site, writer.topic, '/writer/topic');
      const producer = keepProducer(
        site,
        readCluster(site, writer.cluster, '/writer/cluster'),
        producerOf(site, writer.producer, '/writer/producer'),
      );
      const keyName = writer.key_meta?.toLowerCase();
      if (keyName !== undefined) warnOfKey(site, writer.key_meta!);
      return {
        protocol: publishing(site, {
          status,
          publisher: { send: (message, call) => producer.send(writer.topic, message, call) },
          describe: ({ headers }) => ({
            key: keyName === undefined ? undefined : headers.get(keyName),
            headers: [...headers]
              .filter(([name]) => name.toLowerCase() !== keyName)
              .map(([name, value]) => [canonicalHeaderName(name), value]),
          }),
        }),
      };
    }),
  ],
});

/** @throws ConfigError KAFKA_OPTION, KAFKA_DURATION */
function producerOf(site: BackendSite<Config>, config: ProducerConfig, pointer: string): ProducerSettings {
  const cannot = (field: string, why: string) =>
    site.fault('KAFKA_OPTION', `${pointer}/${field}`, `${field} is not supported: ${why}`);
  if (config.compression_level) throw cannot('compression_level', 'each codec compresses at its default level');
  const acks = acksByName.get(config.required_acks);
  if (acks === undefined) {
    throw site.fault(
      'KAFKA_OPTION',
      `${pointer}/required_acks`,
      `required_acks "${config.required_acks}" is not supported: brokers support acknowledgments by none, the leader or all replicas`,
      { hint: 'no_response, wait_for_local or wait_for_all' },
    );
  }
  if (config.required_acks_timeout <= 0) {
    throw site.fault('KAFKA_DURATION', `${pointer}/required_acks_timeout`, 'required_acks_timeout must be above 0');
  }
  return {
    maxBytes: config.max_message_bytes || standardProducer.maxBytes,
    acks: config.idempotent ? -1 : acks,
    acksMs: config.required_acks_timeout,
    compression: config.compression_codec,
    partitioner: config.partitioner,
    isIdempotent: config.idempotent,
    retries: config.retry_max,
    retryMs: config.retry_backoff,
  };
}

const acksByName: ReadonlyMap<string, ProducerSettings['acks']> = new Map([
  ['no_response', 0],
  ['wait_for_local', 1],
  ['1', 1],
  ['wait_for_all', -1],
]);

/** Warns if the header of the key never reaches the backend. */
function warnOfKey({ endpoint, warn }: BackendSite<Config>, name: string): void {
  if (endpoint.input_headers.some((passed) => passed === '*' || passed.toLowerCase() === name.toLowerCase())) return;
  warn(
    'KAFKA_KEY',
    '/writer/key_meta',
    `no record has a key: "${name}" is not among the input_headers of the endpoint`,
    {
      hint: `"input_headers": ["${name}"]`,
    },
  );
}
