import type { Bound } from './bound.ts';

/** Resources that message brokers and Redis can fill, and queues that wait for them. */
export const brokerBounds: readonly Bound[] = [
  {
    holds: 'Messages waiting for requests or workers',
    from: 'plugins/clients/broker/room.ts',
    limit: '{MAX_BYTES} and one message',
    beyond: 'No further messages are requested; without flow control, the oldest are dropped and counted.',
    tests: [
      'the message buffer of a broker client is full at 64 MiB, regardless of the count',
      'NATS behind a backend buffers at most 64 MiB of messages, and drops the oldest',
    ],
  },
  {
    holds: 'Messages of an AMQP consumer',
    from: 'plugins/clients/amqp/subscription.ts',
    limit: '{FULL_BYTES} and one message',
    beyond: 'Messages are returned to the broker, which then delivers fewer at a time.',
    tests: [
      'with RabbitMQ an AMQP channel buffers at most 64 MiB plus one message, and acknowledges or rejects each message once',
    ],
  },
  {
    holds: 'Published AMQP messages waiting for confirmation',
    from: 'plugins/clients/amqp/publisher.ts',
    limit: '{MAX_PENDING} messages, {MAX_PENDING_BYTES}',
    beyond: 'Further messages fail immediately.',
    tests: [
      'a client of a message broker or of Redis, with pending data, rejects AMQP messages if ten thousand are unconfirmed',
    ],
  },
  {
    holds: 'Kafka response',
    from: 'plugins/clients/kafka/guard.ts',
    limit: '{LONGEST_BYTES}',
    beyond: 'The connection is closed and opened again.',
    tests: [
      'a misbehaving Kafka broker is disconnected from the consumers immediately if it sends a response of gigabytes, which is not buffered',
    ],
  },
  {
    holds: 'Kafka batch, decompressed',
    from: 'plugins/clients/kafka/decompression.ts',
    limit: '{LONGEST_BYTES}',
    beyond: 'The batch is discarded, logged and counted.',
    tests: [
      'the content of a Kafka batch is decompressed up to 64 MiB with gzip, and not beyond',
      'the content of a Kafka batch is decompressed up to 64 MiB with zstd, and not beyond',
    ],
  },
  {
    holds: 'Kafka records waiting to be written',
    from: 'plugins/clients/kafka/producer/producer.ts',
    limit: '{MAX_WAITING} records, {MAX_WAITING_BYTES}',
    beyond: 'Further records fail immediately.',
    tests: [
      'a client of a message broker or of Redis, with pending data, rejects Kafka records if ten thousand are pending',
    ],
  },
  {
    holds: 'NATS messages waiting for confirmation',
    from: 'plugins/clients/nats/connection.ts',
    limit: '{MAX_UNCONFIRMED_BYTES}',
    beyond: 'Further messages fail immediately.',
    tests: [
      'a client of a message broker or of Redis, with pending data, for NATS rejects messages if more than 64 MiB are unconfirmed',
    ],
  },
  {
    holds: 'NATS subjects whose rejections are counted',
    from: 'plugins/clients/nats/connection.ts',
    limit: '{MAX_REFUSED} subjects',
    beyond: 'Rejections of further subjects are not counted.',
    tests: [
      'a client of a message broker or of Redis, with pending data, for NATS counts rejections for at most a thousand subjects',
    ],
  },
  {
    holds: 'Messages of Azure Service Bus and Google Pub/Sub',
    from: 'plugins/backend/pubsub/lib/gcp-subscriber.ts',
    limit: '{CAPACITY} messages, {CAPACITY_BYTES}',
    beyond: 'No further messages are requested from the broker.',
    tests: [
      'backend/pubsub with Google Cloud Pub/Sub prefetches a hundred messages, and returns them to the subscription on close',
      'backend/pubsub with Azure Service Bus prefetches a hundred messages, and returns them to the subscription on close',
    ],
  },
  {
    holds: 'Reasons of an outage in the log, for each broker',
    from: 'plugins/clients/broker/kept-link.ts',
    limit: '{MAX_REASONS} reasons',
    beyond: 'Further reasons are logged at DEBUG.',
    tests: ['a broker connection logs each reason of an outage once, and logs its end'],
  },
  {
    holds: 'Redis commands waiting for a response',
    from: 'plugins/clients/redis/connection.ts',
    limit: '{MAX_WAITING} commands',
    beyond: 'Further commands fail immediately, as during an outage.',
    tests: [
      'a client of a message broker or of Redis, with pending data, rejects Redis commands if ten thousand are pending',
    ],
  },
];
