import {
  type AtBackend,
  atBackend,
  type BackendSite,
  definePlugin,
  HeaderBag,
  type Infer,
  meterOf,
  meters,
  Reply,
  type Schema,
  toCallError,
} from '#contract';
import { AmqpError } from '../../clients/amqp/amqp-error.ts';
import { keptChannel } from '../../clients/amqp/channel.ts';
import { openMailbox } from '../../clients/amqp/mailbox.ts';
import type { Delivery } from '../../clients/amqp/subscription.ts';
import { declarationFields, declareQueue, prefetchFields } from '../../clients/amqp/topology.ts';
import { atBroker, type BackendBroker, reconnectionFields } from './lib/broker.ts';

const schema = {
  type: 'object',
  title: 'AMQP consumer',
  examples: [{ name: 'orders', exchange: 'shop', routing_key: ['order.*'], durable: true, prefetch_count: 10 }],
  required: ['name', 'exchange', 'routing_key'],
  properties: {
    name: { type: 'string', description: 'Name of the queue to declare and consume.' },
    exchange: { type: 'string', minLength: 1, description: 'Name of the topic exchange to declare.' },
    routing_key: {
      type: 'array',
      items: { type: 'string', description: 'Routing key pattern: `*` matches one word, `#` any number of words.' },
      description: 'Routing keys that bind the queue to the exchange.',
      examples: [['order.*', 'bill.#']],
    },
    ...declarationFields,
    auto_ack: {
      type: 'boolean',
      description: 'Acknowledges messages as soon as they are delivered.',
      default: false,
    },
    nack_discard: {
      type: 'boolean',
      description:
        'Drops messages that cannot be decoded, or dead-letters them if the queue is configured to, instead of requeueing them.',
      default: false,
    },
    ...prefetchFields('messages that wait in the gateway for a request', 0),
    ...reconnectionFields,
  },
} as const satisfies Schema;

type Config = Infer<typeof schema>;

/**
 * Responds to each request with one message of a RabbitMQ queue. The message is acknowledged once it is decoded, so it
 * is delivered at most once.
 *
 * Configuration faults: `AMQP_ADDRESS`; warnings `AMQP_HOSTS`, `AMQP_CONCURRENT`. Call error: `AMQP_FAILED`.
 */
export const plugin = definePlugin({
  name: 'backend/amqp/consumer',
  description: 'Answers requests with messages from an AMQP 0-9-1 queue.',
  hostless: true,
  takes: [meters],
  places: [atBackend(schema, attach)],
});

function attach(site: BackendSite<Config>): AtBackend {
  const { endpoint } = site;
  if (endpoint.concurrent_calls > 1) {
    const message = `each of the ${endpoint.concurrent_calls} concurrent_calls consumes a message, but only one message is used`;
    site.warn('AMQP_CONCURRENT', '', message, { hint: '"concurrent_calls": 1' });
  }
  return atBroker(site, 'consume', (broker) => consuming(site, broker));
}

function consuming(site: BackendSite<Config>, { connection, key, reconnection }: BackendBroker): AtBackend {
  const { config, log, start, backend } = site;
  const { name, exchange, routing_key: routingKeys, durable, delete: isDeleted, exclusive } = config;
  const { auto_ack: autoAck, prefetch_count: prefetch, nack_discard: isDiscarded } = config;
  const declaration = { name, exchange, routingKeys, durable, delete: isDeleted, exclusive };
  const meter = meterOf(site);
  const undecoded = meter?.counter('amqp.undecoded', { description: 'Number of messages that could not be decoded.' });
  const discarded = meter?.counter('amqp.discarded', { description: 'Number of messages that were dropped.' });
  const keptKey = JSON.stringify(['consumer', key, declaration, autoAck, prefetch]);
  // The channel continues across reloads, so messages are counted for the active configuration.
  const counting = site.keep(['discarded', keptKey], () => ({ discarded: () => {} }));
  const channel = site.keep(
    keptKey,
    () =>
      keptChannel(connection, {
        async open(opened, _link, lost) {
          const queue = await declareQueue(opened, declaration);
          const options = { queue, isExclusive: exclusive, isAutoDelete: isDeleted, autoAck, prefetch, log };
          return openMailbox(opened, { ...options, discarded: () => counting.discarded() }, lost);
        },
        close: (mailbox) => mailbox.close(),
      }),
    (kept) => kept.close(),
  );
  const begin = () => {
    counting.discarded = () => discarded?.add(1);
    channel.open(log, reconnection);
  };
  start(begin, { in: 'each' });
  const encoding = site.encoding(backend.encoding);
  const asCollection = backend.is_collection ?? false;

  /** Decodes a message, and acknowledges it only if that succeeds. */
  const decoded = (delivery: Delivery): Reply => {
    try {
      const { content } = delivery;
      const data = content.length === 0 ? {} : encoding!.decode!(content, asCollection);
      delivery.ack();
      return Reply.data(data);
    } catch (cause) {
      undecoded?.add(1);
      if (isDiscarded && !autoAck) discarded?.add(1);
      if (isDiscarded) log.debug(`[AMQP] a message of queue "${name}" cannot be decoded, and is discarded`);
      delivery.nack(!isDiscarded);
      throw new AmqpError(`a message of queue "${name}" cannot be decoded: ${(cause as Error).message}`, cause);
    }
  };
  const raw = (delivery: Delivery): Reply => {
    delivery.ack();
    const headers = new HeaderBag(delivery.contentType ? ['Content-Type', delivery.contentType] : []);
    return Reply.raw(200, headers, delivery.content);
  };
  const replyWith = encoding?.decode && !encoding.raw ? decoded : raw;
  return {
    protocol: {
      replies: encoding?.raw ? 'bytes' : 'data',
      hostless: true,
      async call(_request, call) {
        try {
          const { value: mailbox } = channel.opened ?? (await channel.current(call));
          const delivery = await mailbox.take(call);
          if (!call.reason) return replyWith(delivery);
          mailbox.putBack(delivery);
          return Reply.failed(toCallError(call.reason));
        } catch (error) {
          return Reply.failed(toCallError(call.reason ?? error));
        }
      },
    },
  };
}
