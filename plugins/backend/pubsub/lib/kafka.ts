import { keyOf } from '../../../clients/broker/key-of.ts';
import { KafkaProducer, type ProducerSettings, standardProducer } from '../../../clients/kafka/producer/producer.ts';
import {
  type GroupSettings,
  isBroker,
  isTopic,
  type KafkaSettings,
  type Known,
} from '../../../clients/kafka/settings.ts';
import { onlyParams, paramOf } from './address.ts';
import { BadVariable, type Driver, type Opening } from './driver.ts';
import { KafkaSubscriber } from './kafka-inbox.ts';

/** Maximum number of messages waiting for a request. */
const CAPACITY = 100;

/** Kafka without TLS or authentication, which `backend/pubsub/publisher/kafka` and `backend/pubsub/subscriber/kafka` support. */
export const kafka: Driver = {
  name: 'Kafka',
  variable: 'KAFKA_BROKERS',
  publisher(opening) {
    const { site, field, address } = opening;
    const topic = topicOf(opening, address.place, 'topic');
    onlyParams(site, field, address, ['key_name']);
    const keyName = paramOf(site, field, address, 'key_name')?.toLowerCase();
    return (said) => {
      const producer = keepProducer(site, clusterOf(opening, said), standardProducer);
      return {
        send(message, call) {
          const key = message.headers.find(([name]) => name.toLowerCase() === keyName);
          const headers = key ? message.headers.filter((header) => header !== key) : message.headers;
          return producer.send(topic, { ...message, headers, key: key?.[1] }, call);
        },
      };
    };
  },
  subscriber(opening) {
    const { site, field, address } = opening;
    const id = topicOf(opening, address.place, 'group');
    onlyParams(site, field, address, ['topic', 'offset']);
    const topics = address.params.get('topic') ?? [];
    if (topics.length === 0) {
      throw site.fault('PUBSUB_PARAMETER', `/${field}`, `"${address.text}" names no topic`, { hint: '?topic=orders' });
    }
    for (const topic of topics) topicOf(opening, topic, 'topic');
    const from = paramOf(site, field, address, 'offset') ?? 'newest';
    if (from !== 'newest' && from !== 'oldest') {
      throw site.fault('PUBSUB_PARAMETER', `/${field}`, `"${address.text}": offset must be newest or oldest`);
    }
    const group: GroupSettings = {
      id,
      sessionMs: 10_000,
      heartbeatMs: 3000,
      rebalanceMs: 60_000,
      strategy: 'range',
      instanceId: undefined,
      fetchBytes: 1_048_576,
      readsUncommitted: false,
      from,
    };
    return (said) => keepSubscriber(opening, clusterOf(opening, said), topics, group);
  },
};

/** Returns a producer that is shared by all backends with the same broker and record settings. */
export function keepProducer(
  site: Opening['site'],
  { settings, key }: Known<KafkaSettings>,
  producer: ProducerSettings,
): KafkaProducer {
  const kept = site.keep(
    { cluster: key, producer: keyOf(producer) },
    () => new KafkaProducer(settings, producer),
    (old) => old.close(),
  );
  site.start(() => kept.open(site.use('log').at('[PubSub]')), { in: 'each' });
  return kept;
}

/** Returns a group member that is shared by all backends with the same settings. */
export function keepSubscriber(
  { site, discarded }: Pick<Opening, 'site' | 'discarded'>,
  { settings, key }: Known<KafkaSettings>,
  topics: readonly string[],
  group: GroupSettings,
): KafkaSubscriber {
  const kept = site.keep(
    { cluster: key, topics: [...topics], group: keyOf(group) },
    () => new KafkaSubscriber(settings, { topics, group }),
    (old) => old.close(),
  );
  site.start(() => kept.open(site.use('log').at('[PubSub]'), discarded), { in: 'each' });
  return kept;
}

/** @throws ConfigError KAFKA_TOPIC */
export function checkTopic(site: Opening['site'], topic: string, pointer: string): void {
  if (!isTopic(topic)) throw site.fault('KAFKA_TOPIC', pointer, `"${topic}" is not a valid topic name`);
}

/** @throws ConfigError PUBSUB_ADDRESS */
function topicOf({ site, field, address }: Opening, name: string, what: 'topic' | 'group'): string {
  if (what === 'group' ? /^\S+$/.test(name) : isTopic(name)) return name;
  throw site.fault('PUBSUB_ADDRESS', `/${field}`, `"${address.text}": "${name}" is not a valid ${what} name`);
}

/** @throws BadVariable */
function clusterOf({ site, field }: Opening, said: string): Known<KafkaSettings> {
  const brokers = said.split(',').map((broker) => broker.trim());
  if (!brokers.every(isBroker)) throw new BadVariable('KAFKA_BROKERS must be a list of host:port');
  for (const address of brokers) site.connectsTo({ address }, `/${field}`);
  return {
    key: keyOf(brokers),
    settings: {
      brokers,
      tls: null,
      user: null,
      connectMs: 10_000,
      responseMs: 30_000,
      keepAliveMs: 0,
      clientId: `sluice-${site.use('version')}`,
      rack: '',
      bufferSize: CAPACITY,
      metadataRetries: 3,
      metadataBackoffMs: 250,
      denied: site.use('denied'),
    },
  };
}
