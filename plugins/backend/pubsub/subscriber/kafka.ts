// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { atBackend, definePlugin, meters, type Schema } from '#contract';
import { clusterSchema, groupSchema } from '../../../clients/kafka/schema.ts';
import { readCluster, readGroup } from '../../../clients/kafka/settings.ts';
import { checkTopic, keepSubscriber } from '../lib/kafka.ts';
import { countDiscarded } from '../lib/open.ts';
import { taking } from '../lib/take.ts';

const schema = {
  type: 'object',
  title: 'Kafka subscriber',
  examples: [
    {
      reader: {
        topics: ['orders'],
        key_meta: 'X-Order',
        cluster: {
          brokers: ['kafka.internal:9093'],
          client_tls: {},
          sasl: { mechanism: 'SCRAM-SHA-512', user: 'gateway', password: '${PASSWORD}' },
        },
        group: { id: 'gateways', isolation_level: 'read_commited' },
      },
    },
    { reader: { topics: ['orders', 'returns'], cluster: { brokers: ['kafka.internal:9092'] } } },
  ],
  required: ['reader'],
  properties: {
    reader: {
      type: 'object',
      description: 'Settings of the Kafka topics and of the consumer that reads them.',
      required: ['topics', 'cluster'],
      properties: {
        topics: {
          type: 'array',
          minItems: 1,
          items: { type: 'string', minLength: 1 },
          description: 'Topic names.',
          examples: [['orders']],
        },
        cluster: clusterSchema,
        group: { ...groupSchema, default: {} },
        key_meta: {
          type: 'string',
          minLength: 1,
          description: 'Response header that carries the record key. Default: none.',
          examples: ['X-Order'],
        },
      },
    },
  },
} as const satisfies Schema;

/**
 * Responds to each request with the next record of one or more topics. Supports TLS, SASL and all other settings that
 * the `kafka` scheme lacks. A record is consumed once a request has received it, even if it cannot be decoded.
 *
 * Configuration faults: `KAFKA_TOPIC`, `KAFKA_BROKER`, `KAFKA_CLIENT_ID`, `KAFKA_DURATION`, `KAFKA_GROUP`,
 * `KAFKA_OPTION`, `KAFKA_SASL` and those of `client_tls`; warning `PUBSUB_CONCURRENT`. Call errors: `BACKEND_BODY`,
 * `BROKER_NOT_CONNECTED`.
 */
export const plugin = definePlugin({
  name: 'backend/pubsub/subscriber/kafka',
  description: 'Answers each request with one record from Kafka topics.',
  hostless: true,
  takes: [meters],
  places: [
    atBackend(schema, (site) => {
      const { topics, cluster, group, key_meta: keyHeader } = site.config.reader;
      for (const [index, topic] of topics.entries()) checkTopic(site, topic, `/reader/topics/${index}`);
      const known = readCluster(site, cluster, '/reader/cluster');
      const groupSettings = readGroup(site, group, '/reader/group', known.settings.clientId);
      const subscriber = keepSubscriber({ site, discarded: countDiscarded(site) }, known, topics, groupSettings);
      const log = site.use('log').at(`[BACKEND: kafka://${groupSettings.id}?topic=${topics.join('&topic=')}][PubSub]`);
      return { protocol: taking(site, { subscriber, log, keyHeader }) };
    }),
  ],
});
