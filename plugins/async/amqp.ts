import { setTimeout as pause } from 'node:timers/promises';
import {
  type AgentSite,
  type AtAgent,
  atAgent,
  definePlugin,
  HeaderBag,
  type Infer,
  meters,
  type Schema,
} from '#contract';
import { reasonOf } from '../clients/amqp/amqp-error.ts';
import { readSettings } from '../clients/amqp/connection.ts';
import { reportHandlerError } from '../clients/amqp/handler-error.ts';
import { type AmqpSettings, closeWith, openLink } from '../clients/amqp/link.ts';
import { limitMessages } from '../clients/amqp/message-limit.ts';
import { type Delivery, type Subscription, subscribe } from '../clients/amqp/subscription.ts';
import { declarationFields, declareQueue, prefetchFields } from '../clients/amqp/topology.ts';
import type { AgentDriver, Consuming } from './lib/driver.ts';
import { runAgent } from './lib/run-agent.ts';

const schema = {
  type: 'object',
  title: 'AMQP driver of an agent',
  examples: [{ host: 'amqp://rabbitmq:5672/', name: 'orders', exchange: 'shop', durable: true }],
  required: ['host', 'name', 'exchange'],
  properties: {
    host: {
      type: 'string',
      minLength: 1,
      description: 'Broker URL with user, password and virtual host. Use amqps:// for TLS.',
    },
    name: { type: 'string', description: 'Name of the queue to declare and consume.' },
    exchange: {
      type: 'string',
      minLength: 1,
      description:
        "Name of the topic exchange to declare. The queue is bound to it with the consumer's topic as the routing key.",
    },
    ...declarationFields,
    auto_ack: {
      type: 'boolean',
      description: 'Acknowledges messages as soon as they are delivered, before they are processed.',
      default: false,
    },
    nack_discard: {
      type: 'boolean',
      description:
        'Drops failed messages, or dead-letters them if the queue is configured to, instead of requeueing them. If disabled, a failed message is requeued immediately, and from its second failure on after 1 second.',
      default: false,
    },
    ...prefetchFields('unacknowledged messages', 10),
  },
} as const satisfies Schema;

type Config = Infer<typeof schema>;

/**
 * Delay before a redelivered message that fails again is returned to the queue, in milliseconds: otherwise a message
 * that always fails would be run as fast as broker and backend allow.
 */
const AGAIN_MS = 1000;

/**
 * Consumes a RabbitMQ queue: a message is acknowledged once the pipe of its agent has succeeded.
 *
 * Configuration errors: `AMQP_ADDRESS`; a warning `AMQP_PREFETCH`.
 */
export const plugin = definePlugin({
  name: 'async/amqp',
  description: 'Consumes messages from an AMQP 0-9-1 queue and processes each one with an async agent.',
  takes: [meters],
  places: [atAgent(schema, attach)],
});

function attach(site: AgentSite<Config>): AtAgent {
  const { config, agent } = site;
  const { settings, key } = readSettings(site, config.host, '/host', (message) =>
    site.fault('AMQP_ADDRESS', '/host', message),
  );
  const { prefetch_count: prefetch } = config;
  const { workers, topic } = agent.consumer;
  if (!config.auto_ack && prefetch > 0 && prefetch < workers) {
    const message = `at most ${prefetch} of the ${workers} workers can be busy: the broker delivers at most ${prefetch} unacknowledged messages`;
    site.warn('AMQP_PREFETCH', '/prefetch_count', message, { hint: String(workers) });
  }
  const { host: _secret, ...said } = config;
  return runAgent(site, [key, said], () => new AmqpDriver(settings, config, topic));
}

class AmqpDriver implements AgentDriver {
  readonly #settings: AmqpSettings;
  readonly #config: Config;
  readonly #topic: string;

  constructor(settings: AmqpSettings, config: Config, topic: string) {
    this.#settings = settings;
    this.#config = config;
    this.#topic = topic;
  }

  async connect({ handle, discarded, signal, log }: Consuming) {
    const {
      name,
      exchange,
      durable,
      delete: isDeleted,
      exclusive,
      auto_ack: autoAck,
      nack_discard: isDiscarded,
    } = this.#config;
    const link = await openLink(this.#settings, signal);
    const { promise: ended, resolve: onEnded } = Promise.withResolvers<Error>();
    void link.closed.then(onEnded);
    const hangUp = () => void link.close();
    signal.addEventListener('abort', hangUp, { once: true });
    const late = setTimeout(hangUp, this.#settings.address.connectMs);
    try {
      const channel = await link.model.createChannel();
      let problem: Error | null = null;
      channel.on('error', (error) => {
        problem ??= error;
      });
      channel.on('handler-error', (error) => {
        reportHandlerError(error);
        onEnded(error);
      });
      channel.on('close', () => setImmediate(() => onEnded(problem ?? new Error('channel closed'))));
      limitMessages(channel);
      const take = async (delivery: Delivery) => {
        const outcome = await handle(messageOf(delivery));
        if (outcome === 'done') return delivery.ack();
        const isDropped = outcome === 'failed' && isDiscarded;
        if (isDropped && !autoAck) log.debug('message discarded');
        const failsAgain = outcome === 'failed' && !isDropped && !autoAck && delivery.isRedelivered;
        // If the channel closes during the delay, RabbitMQ requeues the message.
        if (failsAgain) await pause(AGAIN_MS, undefined, { ref: false });
        delivery.nack(!isDropped);
      };
      const declaration = { name, exchange, routingKeys: [this.#topic], durable, delete: isDeleted, exclusive };
      const queue = await declareQueue(channel, declaration);
      const options = {
        queue,
        isExclusive: exclusive,
        isAutoDelete: isDeleted,
        autoAck,
        prefetch: this.#config.prefetch_count,
        log,
        discarded,
      };
      const subscription: Subscription = await subscribe(channel, options, (each) => void take(each), onEnded);
      return { ended, stop: () => subscription.cancel(), close: () => closeWith(link, channel) };
    } catch (error) {
      await link.close();
      throw new Error(reasonOf(error), { cause: error });
    } finally {
      clearTimeout(late);
      signal.removeEventListener('abort', hangUp);
    }
  }
}

function messageOf({ content, contentType }: Delivery) {
  return { body: content, ...(contentType && { headers: new HeaderBag(['Content-Type', contentType]) }) };
}
