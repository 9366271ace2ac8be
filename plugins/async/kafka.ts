// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import {
  type AgentMessage,
  type AgentSite,
  type AtAgent,
  atAgent,
  definePlugin,
  type Infer,
  meters,
  type Schema,
} from '#contract';
import { Room } from '../clients/broker/room.ts';
import { KafkaProblems } from '../clients/kafka/client.ts';
import {
  giveBack,
  type KafkaDelivery,
  Membership,
  newProgress,
  type Reading,
} from '../clients/kafka/consumer/consumer.ts';
import { clusterSchema, groupSchema } from '../clients/kafka/schema.ts';
import { isTopic, type KafkaSettings, readCluster, readGroup } from '../clients/kafka/settings.ts';
import type { AgentDriver, AgentSession, Consuming } from './lib/driver.ts';
import { headersOf } from './lib/message-headers.ts';
import { runAgent } from './lib/run-agent.ts';

const schema = {
  type: 'object',
  title: 'Kafka driver of an agent',
  examples: [
    {
      cluster: {
        brokers: ['kafka.internal:9093'],
        client_tls: {},
        sasl: { mechanism: 'SCRAM-SHA-512', user: 'gateway', password: '${PASSWORD}' },
      },
      group: { id: 'orders' },
      key_meta: 'X-Order',
    },
    { cluster: { brokers: ['kafka.internal:9092'], channel_buffer_size: 100 } },
  ],
  required: ['cluster'],
  properties: {
    cluster: clusterSchema,
    group: { ...groupSchema, default: {} },
    key_meta: {
      type: 'string',
      minLength: 1,
      description: 'Header of backend requests that carries the record key. Default: none.',
      examples: ['X-Order'],
    },
  },
} as const satisfies Schema;

type Config = Infer<typeof schema>;

/**
 * Consumes the topic of an agent as a member of a consumer group: a record is done once its pipe has run, successfully
 * or not, and committed once those before it are done.
 *
 * Configuration errors: `KAFKA_TOPIC`, `KAFKA_BROKER`, `KAFKA_CLIENT_ID`, `KAFKA_DURATION`, `KAFKA_GROUP`,
 * `KAFKA_OPTION`, `KAFKA_SASL` and those of `client_tls`.
 */
export const plugin = definePlugin({
  name: 'async/kafka',
  description: 'Consumes records from Kafka topics and processes each one with an async agent.',
  takes: [meters],
  places: [atAgent(schema, attach)],
});

function attach(site: AgentSite<Config>): AtAgent {
  const { agent, config } = site;
  const { topic } = agent.consumer;
  if (!isTopic(topic)) {
    throw site.fault('KAFKA_TOPIC', '', `the topic of the consumer, "${topic}", is not a valid topic name`);
  }
  const { settings, key } = readCluster(site, config.cluster, '/cluster');
  const group = readGroup(site, config.group, '/group', agent.name.replace(/\s+/g, '-'));
  const reading: Reading = { topics: [topic], group };
  const said = [key, JSON.stringify(group), config.key_meta ?? ''];
  return runAgent(site, said, () => new KafkaDriver(settings, reading, config.key_meta));
}

class KafkaDriver implements AgentDriver {
  readonly #settings: KafkaSettings;
  readonly #reading: Reading;
  readonly #keyHeader: string | undefined;
  readonly #progress = newProgress();

  constructor(settings: KafkaSettings, reading: Reading, keyHeader: string | undefined) {
    this.#settings = settings;
    this.#reading = reading;
    this.#keyHeader = keyHeader;
  }

  async connect({ handle, discarded, signal, log }: Consuming): Promise<AgentSession> {
    const { bufferSize } = this.#settings;
    const problems = new KafkaProblems();
    const { promise: ended, resolve: onEnded } = Promise.withResolvers<Error>();
    const room = new Room(bufferSize);
    const take = async (delivery: KafkaDelivery) => {
      room.enter(delivery);
      const outcome = await handle(messageOf(delivery, this.#keyHeader));
      room.leave(delivery);
      if (outcome === 'returned') giveBack(this.#progress, delivery);
      else delivery.accept();
      if (room.isHalfEmpty) membership.resume();
    };
    const membership = new Membership(
      this.#settings,
      this.#reading,
      this.#progress,
      {
        receive(delivery) {
          void take(delivery);
          return !room.isFull;
        },
        unreadable(where, why, count) {
          log.error(`records of ${where} cannot be read and are discarded: ${why}`);
          discarded(count);
        },
        forget: () => [],
      },
      problems,
    );
    const plain = (error: unknown) => new Error(problems.reasonOf(error), { cause: error });
    try {
      await membership.open((error) => onEnded(plain(error)), signal);
    } catch (error) {
      throw plain(error);
    }
    return { ended, stop: async () => membership.stop(), close: () => membership.close() };
  }
}

function messageOf({ payload, headers, key }: KafkaDelivery, keyHeader: string | undefined): AgentMessage {
  const bag = headersOf(headers);
  if (keyHeader !== undefined) {
    bag.delete(keyHeader);
    for (const [name, value] of headersOf(key === undefined ? [] : [[keyHeader, key]])) bag.append(name, value);
  }
  return { body: payload, headers: bag };
}
