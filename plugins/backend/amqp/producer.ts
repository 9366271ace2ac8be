import { type AtBackend, atBackend, type BackendSite, definePlugin, Reply, toCallError } from '#contract';
import { keptChannel } from '../../clients/amqp/channel.ts';
import { Publisher } from '../../clients/amqp/publisher.ts';
import { declareExchange } from '../../clients/amqp/topology.ts';
import { atBroker, type BackendBroker } from './lib/broker.ts';
import { compileMessage } from './lib/message.ts';
import { type ProducerConfig, schema } from './lib/producer-schema.ts';

/**
 * Publishes requests to a RabbitMQ exchange. A request succeeds once the broker has confirmed its message.
 *
 * Configuration faults: `AMQP_ADDRESS`; warnings `AMQP_HOSTS` and `AMQP_PARAM`. Call errors: `AMQP_FAILED`, and
 * `AMQP_VALUE` (status 400) for a client value that a message cannot contain.
 */
export const plugin = definePlugin({
  name: 'backend/amqp/producer',
  description: 'Publishes requests as messages to an AMQP 0-9-1 exchange.',
  hostless: true,
  places: [atBackend(schema, attach)],
});

function attach(site: BackendSite<ProducerConfig>): AtBackend {
  return atBroker(site, 'publish', (broker) => publishing(site, broker));
}

function publishing(site: BackendSite<ProducerConfig>, { connection, key, reconnection }: BackendBroker): AtBackend {
  const { config, log, start } = site;
  const { exchange, mandatory, durable, delete: isDeleted } = config;
  const channel = site.keep(
    JSON.stringify(['publisher', key, exchange, mandatory, durable, isDeleted]),
    () =>
      keptChannel(connection, {
        async open(opened, link) {
          await declareExchange(opened, exchange, config);
          return new Publisher(opened, link, exchange, mandatory);
        },
      }),
    (kept) => kept.close(),
  );
  start(() => channel.open(log, reconnection), { in: 'each' });
  const messageOf = compileMessage(site);
  return {
    protocol: {
      replies: 'data',
      hostless: true,
      async call(request, call) {
        try {
          const content = (await request.body?.bytes()) ?? new Uint8Array();
          const { value: publisher } = channel.opened ?? (await channel.current(call));
          await publisher.publish(messageOf(request, content), call);
          return Reply.data({});
        } catch (error) {
          return Reply.failed(toCallError(call.reason ?? error));
        }
      },
    },
  };
}
