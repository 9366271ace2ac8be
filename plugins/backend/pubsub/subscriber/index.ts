import { atBackend, definePlugin, httpSigners, meters, type Schema } from '#contract';
import { openSubscriber } from '../lib/open.ts';
import { taking } from '../lib/take.ts';

const schema = {
  type: 'object',
  title: 'Subscriber',
  examples: [{ subscription_url: 'orders.created?queue=gateways' }],
  required: ['subscription_url'],
  properties: {
    subscription_url: {
      type: 'string',
      minLength: 1,
      description:
        "Subscription name. It is appended to the backend's host, for example nats://, to form the subscription URL.",
      examples: ['orders.created?queue=gateways'],
    },
  },
} as const satisfies Schema;

/**
 * Responds to each request with the next message of a subscription, or fails if none arrives in time. The scheme of the
 * host selects the kind of broker, and environment variables contain its address.
 *
 * Configuration faults: `PUBSUB_HOST`, `PUBSUB_ADDRESS`, `PUBSUB_SCHEME`, `PUBSUB_PARAMETER`, `PUBSUB_PACKAGE`;
 * warnings `PUBSUB_HOSTS`, `PUBSUB_CONCURRENT`. Call errors: `PUBSUB_ENVIRONMENT`, `BROKER_NOT_CONNECTED`,
 * `BACKEND_BODY` and those of the driver.
 */
export const plugin = definePlugin({
  name: 'backend/pubsub/subscriber',
  description: 'Answers each request with one message from a broker.',
  hostless: true,
  takes: [httpSigners, meters],
  places: [
    atBackend(schema, (site) => {
      const { subscriber, log } = openSubscriber(site);
      return { protocol: taking(site, { subscriber, log }) };
    }),
  ],
});
