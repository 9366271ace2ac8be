import { silentLog } from '../../../kernel/contract/internal.ts';
import { DeniedAddresses } from '../../../kernel/net/denied-addresses.ts';
import { KafkaConsumer, type KafkaDelivery } from '../../../plugins/clients/kafka/consumer/consumer.ts';
import { hostileTarget } from '../hostile-target.ts';
import { kafkaGroupDialect } from '../kafka-group-dialect.ts';

/** Time that a request waits for a record, in milliseconds. */
const WAIT_MS = 300;

/** A misbehaving Kafka broker of a consumer group. */
export const kafkaConsumer = hostileTarget({
  name: 'kafka-consumer',
  dialect: kafkaGroupDialect(),
  rooms: ['plugins/clients/kafka/', 'plugins/clients/broker/'],
  deadlineMs: WAIT_MS,
  recoveryMs: 15_000,
  messages: 24,
  drive(port) {
    let arrived = (): void => {};
    const consumer = new KafkaConsumer(
      {
        brokers: [`127.0.0.1:${port}`],
        tls: null,
        user: null,
        connectMs: 200,
        responseMs: 200,
        keepAliveMs: 0,
        clientId: 'a',
        rack: '',
        bufferSize: 10,
        metadataRetries: 0,
        metadataBackoffMs: 10,
        denied: new DeniedAddresses(),
      },
      {
        topics: ['a'],
        group: {
          id: 'g',
          sessionMs: 300,
          heartbeatMs: 20,
          rebalanceMs: 300,
          strategy: 'range',
          instanceId: undefined,
          fetchBytes: 1_000_000,
          readsUncommitted: false,
          from: 'oldest',
        },
      },
      {
        receive(delivery: KafkaDelivery) {
          delivery.accept();
          arrived();
          return true;
        },
        unreadable() {},
        forget: () => [],
      },
    );
    consumer.open(silentLog);
    return {
      ask: () =>
        new Promise((resolve) => {
          const timer = setTimeout(resolve, WAIT_MS, false);
          arrived = () => {
            clearTimeout(timer);
            resolve(true);
          };
        }),
      close: () => consumer.close(),
    };
  },
});
