import { atBackend, definePlugin, httpSigners, type Schema } from '#contract';
import { firstValues } from '../../../clients/broker/message.ts';
import { openPublisher } from '../lib/open.ts';
import { publishing } from '../lib/publish.ts';

const schema = {
  type: 'object',
  title: 'Publisher',
  examples: [{ topic_url: 'orders.created' }],
  required: ['topic_url'],
  properties: {
    topic_url: {
      type: 'string',
      minLength: 1,
      description: "Topic name. It is appended to the backend's host, for example nats://, to form the topic URL.",
      examples: ['orders.created'],
    },
  },
} as const satisfies Schema;

/**
 * Publishes the body of each request. The scheme of the host selects the kind of broker, and environment variables
 * contain its address.
 *
 * Configuration faults: `PUBSUB_HOST`, `PUBSUB_ADDRESS`, `PUBSUB_SCHEME`, `PUBSUB_PARAMETER`, `PUBSUB_PACKAGE`;
 * warnings `PUBSUB_HOSTS`, `PUBSUB_CONCURRENT`. Call errors: `PUBSUB_ENVIRONMENT`, `BROKER_NOT_CONNECTED` and those of
 * the driver.
 */
export const plugin = definePlugin({
  name: 'backend/pubsub/publisher',
  description: 'Publishes the body of each request as a message to a broker.',
  hostless: true,
  takes: [httpSigners],
  places: [
    atBackend(schema, (site) => ({
      protocol: publishing(site, {
        publisher: openPublisher(site),
        describe: ({ headers }) => ({ headers: firstValues(headers) }),
      }),
    })),
  ],
});
