import type { Call } from '#contract';
import { keptChannel } from '../../../clients/amqp/channel.ts';
import { type KnownSettings, keepConnection, readSettings } from '../../../clients/amqp/connection.ts';
import { openMailbox } from '../../../clients/amqp/mailbox.ts';
import { Publisher as AmqpPublisher } from '../../../clients/amqp/publisher.ts';
import type { Reconnection } from '../../../clients/broker/kept-link.ts';
import type { Delivery, Message, Publisher, Subscriber } from '../../../clients/broker/message.ts';
import { onlyParams } from './address.ts';
import { BadVariable, type Driver, type Opening } from './driver.ts';

/** Maximum number of messages waiting for a request. */
const CAPACITY = 100;
/** Reconnects every second, without a limit. */
const reconnection: Reconnection = { maxRetries: 0, strategy: 'fallback' };

/** RabbitMQ with existing exchanges and queues, which are not declared. */
export const rabbit: Driver = {
  name: 'RabbitMQ',
  variable: 'RABBIT_SERVER_URL',
  publisher(opening) {
    const exchange = nameOf(opening, 'exchange');
    return (said) => keepPublisher(opening, settingsOf(opening, said), exchange);
  },
  subscriber(opening) {
    const queue = nameOf(opening, 'queue');
    return (said) => keepSubscriber(opening, settingsOf(opening, said), queue);
  },
};

/** @throws ConfigError PUBSUB_ADDRESS, PUBSUB_PARAMETER */
function nameOf({ site, field, address }: Opening, what: string): string {
  onlyParams(site, field, address, []);
  const { place: name } = address;
  if (name !== '' && Buffer.byteLength(name) <= 255) return name;
  throw site.fault('PUBSUB_ADDRESS', `/${field}`, `"${address.text}" does not name a ${what}`);
}

/** Reads the connection settings. The scheme of the address is optional. @throws BadVariable */
function settingsOf({ site, field }: Opening, said: string): KnownSettings {
  const url = /^[a-z]+:\/\//i.test(said) ? said : `amqp://${said}`;
  return readSettings(site, url, `/${field}`, (message) => new BadVariable(`RABBIT_SERVER_URL: ${message}`));
}

function keepPublisher({ site, log }: Opening, known: KnownSettings, exchange: string): Publisher {
  const connection = keepConnection(site, known, 'publish');
  const channel = site.keep(
    ['publisher', known.key, exchange],
    () =>
      keptChannel(connection, {
        async open(opened, link) {
          await opened.checkExchange(exchange);
          return new AmqpPublisher(opened, link, exchange, true);
        },
      }),
    (kept) => kept.close(),
  );
  site.start(() => channel.open(log, reconnection), { in: 'each' });
  return {
    async send(message, call) {
      const { value: publisher } = channel.opened ?? (await channel.current(call));
      const properties = { headers: tableOf(message) };
      await publisher.publish({ routingKey: '', content: message.payload, properties }, call);
    },
  };
}

function keepSubscriber({ site, log, discarded }: Opening, known: KnownSettings, queue: string): Subscriber {
  const connection = keepConnection(site, known, 'consume');
  // The channel continues across reloads, so messages are counted for the active configuration.
  const counting = site.keep(['discarded', known.key, queue], () => ({ discarded: () => {} }));
  const settings = { queue, isExclusive: false, isAutoDelete: false, autoAck: false, prefetch: CAPACITY, log };
  const options = { ...settings, discarded: () => counting.discarded() };
  const channel = site.keep(
    ['subscriber', known.key, queue],
    () =>
      keptChannel(connection, {
        open: (opened, _link, lost) => openMailbox(opened, options, lost),
        close: (mailbox) => mailbox.close(),
      }),
    (kept) => kept.close(),
  );
  const start = () => {
    counting.discarded = discarded;
    channel.open(log, reconnection);
  };
  site.start(start, { in: 'each' });
  return {
    async next(call: Call): Promise<Delivery> {
      const { value: mailbox } = channel.opened ?? (await channel.current(call));
      const { content, ack, nack } = await mailbox.take(call);
      return { payload: content, headers: [], accept: ack, giveBack: () => nack(true) };
    },
  };
}

/** Headers that control the broker, not the consumer. Clients must not set them. */
const ofTheBroker = /^(?:b?cc|x-death|x-first-death-.*)$/i;

function tableOf({ headers }: Message): Record<string, string> {
  return Object.fromEntries(headers.filter(([name]) => !ofTheBroker.test(name)));
}
