import { type AtBackend, type BackendSite, Reply, type Schema } from '#contract';
import { AmqpError } from '../../../clients/amqp/amqp-error.ts';
import { type AmqpConnection, keepConnection, readSettings } from '../../../clients/amqp/connection.ts';
import type { Reconnection } from '../../../clients/broker/kept-link.ts';
import { backoffField } from '../../../shared/retries/backoff.ts';

/** Reconnection settings, the same for consumer and producer. */
export const reconnectionFields = {
  max_retries: {
    type: 'integer',
    description:
      'Maximum number of consecutive reconnection attempts. After that, the next request starts new attempts. 0 or less disables the limit. The first connection is attempted at most 3 times.',
    default: 0,
  },
  backoff_strategy: backoffField,
} as const satisfies Record<string, Schema>;

/** Broker of a backend: the first of its hosts. */
export interface BackendBroker {
  readonly connection: AmqpConnection;
  /** Key for the state of this backend alone. Changes with the broker and with the backend's position in the configuration. */
  readonly key: readonly string[];
  readonly reconnection: Reconnection;
}

/**
 * Settings for a backend whose host is not the address of a broker; the kernel rejects it and lists the supported
 * schemes.
 */
const elsewhere: AtBackend = {
  protocol: {
    schemes: ['amqp', 'amqps'],
    call: () => Reply.failed(new AmqpError('the host of the backend is not a broker address')),
  },
};

/**
 * Attaches to the broker connection named by `host`, which is shared with the component's other backends.
 * @throws ConfigError `AMQP_ADDRESS`. Warning `AMQP_HOSTS`.
 */
export function atBroker(
  site: BackendSite<{ readonly max_retries: number; readonly backoff_strategy: Reconnection['strategy'] }>,
  purpose: 'publish' | 'consume',
  attach: (broker: BackendBroker) => AtBackend,
): AtBackend {
  const { backend, endpoint, config, index } = site;
  const [host = ''] = backend.host;
  if (!/^amqps?:/.test(host)) return elsewhere;
  const known = readSettings(site, host, 0, (message) =>
    site.fault('AMQP_ADDRESS', '', `host of the backend: ${message}`),
  );
  if (backend.host.length > 1) site.warn('AMQP_HOSTS', '', 'only the first host of the backend is used');
  return attach({
    connection: keepConnection(site, known, purpose),
    key: [known.key, `${endpoint.method} ${endpoint.endpoint}`, String(index)],
    reconnection: { maxRetries: config.max_retries, strategy: config.backoff_strategy },
  });
}
