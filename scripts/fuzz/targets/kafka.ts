import { BackendError, CallError } from '#contract';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { DeniedAddresses } from '../../../kernel/net/denied-addresses.ts';
import { KafkaProducer, standardProducer } from '../../../plugins/clients/kafka/producer/producer.ts';
import { askOnce, hostileTarget } from '../hostile-target.ts';
import { kafkaDialect } from '../kafka-dialect.ts';

/** A misbehaving Kafka broker. */
export const kafka = hostileTarget({
  name: 'kafka',
  dialect: kafkaDialect,
  rooms: ['plugins/clients/kafka/'],
  deadlineMs: 300,
  recoveryMs: 15_000,
  drive(port) {
    const producer = new KafkaProducer(
      {
        brokers: [`127.0.0.1:${port}`],
        tls: null,
        user: null,
        connectMs: 200,
        responseMs: 200,
        keepAliveMs: 0,
        clientId: 'a',
        rack: '',
        bufferSize: 1,
        metadataRetries: 0,
        metadataBackoffMs: 10,
        denied: new DeniedAddresses(),
      },
      { ...standardProducer, acksMs: 200, retries: 1, retryMs: 10 },
    );
    producer.open(silentLog);
    return {
      ask: () =>
        askOnce(
          (call) => producer.send('a', { payload: Buffer.from('x'), headers: [] }, call),
          BackendError,
          CallError,
        ),
      close: () => producer.close(),
    };
  },
});
