import { type AtBackend, type BackendSite, Reply, type Schema } from '#contract';
import { type AmqpConnection, keepConnection, readSettings } from '../../../services/amqp/connection.ts';
import { AmqpTrouble } from '../../../services/amqp/trouble.ts';
import { backoffField } from '../../../services/backoff.ts';
import type { Reconnection } from '../../../services/broker/kept-link.ts';

/** Fields of both components by which they come back after a loss. */
export const reconnectionFields = {
  max_retries: {
    type: 'integer',
    description:
      'Maximum number of consecutive reconnection attempts before the next request tries again. 0 or less disables the limit. The initial connection makes at most 3 attempts.',
    default: 0,
  },
  backoff_strategy: backoffField,
} as const satisfies Record<string, Schema>;

/** The broker of a backend: the first of its hosts. */
export interface BackendBroker {
  readonly connection: AmqpConnection;
  /** Of what belongs to this backend alone: differs whenever the broker does, or the place of the backend. */
  readonly key: readonly string[];
  readonly reconnection: Reconnection;
}

/** What a backend is whose host is not that of a broker: the kernel refuses it, with the schemes that there are. */
const elsewhere: AtBackend = {
  protocol: {
    schemes: ['amqp', 'amqps'],
    call: () => Reply.failed(new AmqpTrouble('the host of the backend is not a broker address')),
  },
};

/**
 * Attaches to the connection of the broker that `host` names, which is shared with the other backends of the component.
 * Faults: `AMQP_ADDRESS`; a warning `AMQP_HOSTS`.
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
  if (backend.host.length > 1) site.warn('AMQP_HOSTS', '', 'only the first host of the backend is connected to');
  return attach({
    connection: keepConnection(site, known, purpose),
    key: [known.key, `${endpoint.method} ${endpoint.endpoint}`, String(index)],
    reconnection: { maxRetries: config.max_retries, strategy: config.backoff_strategy },
  });
}
