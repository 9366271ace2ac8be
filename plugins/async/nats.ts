import {
  type AgentSite,
  type AtAgent,
  atAgent,
  clientTlsSchema,
  definePlugin,
  type Infer,
  meters,
  type Schema,
} from '#contract';
import { keyOf } from '../clients/broker/key-of.ts';
import { Room } from '../clients/broker/room.ts';
import { type NatsSettings, parseServers, subjectProblem } from '../clients/nats/address.ts';
import { listen, openNats } from '../clients/nats/connection.ts';
import { nameServers } from '../clients/nats/tls.ts';
import { prepareTls, standardTls } from '../clients/tls/client-tls.ts';
import type { AgentDriver, AgentSession, Consuming } from './lib/driver.ts';
import { headersOf } from './lib/message-headers.ts';
import { runAgent } from './lib/run-agent.ts';

const schema = {
  type: 'object',
  title: 'NATS driver of an agent',
  examples: [
    { host: 'nats://nats.internal:4222', queue: 'gateways' },
    { host: 'tls://nats.internal:4222', client_tls: {}, buffer_size: 100 },
  ],
  required: ['host'],
  properties: {
    host: {
      type: 'string',
      minLength: 1,
      description: 'Server URLs with user and password, separated by commas. tls:// requires TLS.',
    },
    queue: {
      type: 'string',
      minLength: 1,
      description: 'Queue group: its members share the messages. Default: every gateway receives all messages.',
      examples: ['gateways'],
    },
    client_tls: {
      ...clientTlsSchema,
      title: 'TLS to NATS',
      description: 'TLS settings; if set, connections require TLS. File paths are relative to the working directory.',
    },
    buffer_size: {
      type: 'integer',
      minimum: 1,
      description:
        'Maximum number of messages waiting or being processed, up to 64 MiB in total. Messages beyond the limit are dropped.',
      default: 1000,
      examples: [100],
    },
  },
} as const satisfies Schema;

type Config = Infer<typeof schema>;

/**
 * Subscribes to the subject of an agent. NATS does not store messages: each is sent once, whatever the outcome.
 *
 * Configuration errors: `NATS_ADDRESS`, `NATS_SUBJECT` and those of `client_tls`.
 */
export const plugin = definePlugin({
  name: 'async/nats',
  description: 'Consumes messages from a NATS subject and processes each one with an async agent.',
  takes: [meters],
  places: [atAgent(schema, attach)],
});

function attach(site: AgentSite<Config>): AtAgent {
  const { agent, config } = site;
  const { topic: subject } = agent.consumer;
  const problem = subjectProblem(subject, true);
  if (problem) throw site.fault('NATS_SUBJECT', '', `the topic of the consumer, "${subject}": ${problem}`);
  const servers = parseServers(config.host);
  if (!servers) {
    throw site.fault('NATS_ADDRESS', '/host', 'host is not a valid NATS server address', {
      hint: 'as in "nats://nats.internal:4222"',
    });
  }
  const prepared = config.client_tls && prepareTls(site, config.client_tls);
  const settings: NatsSettings = {
    ...servers,
    needsTls: servers.needsTls || prepared !== undefined,
    tls: prepared?.client ?? standardTls(),
    denied: site.use('denied'),
  };
  nameServers(site, settings, '/host');
  const key = keyOf([config, prepared?.fingerprint ?? '']);
  return runAgent(site, key, () => new NatsDriver(settings, subject, config));
}

class NatsDriver implements AgentDriver {
  readonly #settings: NatsSettings;
  readonly #subject: string;
  readonly #config: Config;

  constructor(settings: NatsSettings, subject: string, config: Config) {
    this.#settings = settings;
    this.#subject = subject;
    this.#config = config;
  }

  async connect({ handle, discarded, signal, log }: Consuming): Promise<AgentSession> {
    const { queue, buffer_size: capacity } = this.#config;
    const { promise: ended, resolve: onEnded } = Promise.withResolvers<Error>();
    const link = await openNats(this.#settings, onEnded, signal);
    const room = new Room(capacity);
    let dropped = 0;
    const stop = listen(link.client, {
      subject: this.#subject,
      queue,
      receive: ({ data, headers }) => {
        if (room.isFull) {
          dropped++;
          discarded();
          if (Math.log10(dropped) % 1 === 0)
            log.warning(
              `${dropped} messages dropped: ${capacity} messages, or 64 MiB, are already waiting or being processed`,
            );
          return;
        }
        const message = { payload: data };
        room.enter(message);
        const pairs = [...(headers ?? [])].flatMap(([name, all]) =>
          all.map((value): [string, string] => [name, value]),
        );
        void handle({ body: data, headers: headersOf(pairs) }).then(() => room.leave(message));
      },
      refused: onEnded,
    });
    return { ended, stop: async () => stop(), close: async () => link.close() };
  }
}
