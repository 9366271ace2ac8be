import { BackendError, type Call, type DeniedAddresses, type Upstream } from '#contract';
import { KeptLink, reasonOf } from '../../../clients/broker/kept-link.ts';
import { keyOf } from '../../../clients/broker/key-of.ts';
import type { Message, Publisher } from '../../../clients/broker/message.ts';
import { runtimeTls } from '../../../clients/tls/client-tls.ts';
import { onlyParams, paramOf } from './address.ts';
import { openSender, type SenderLink } from './azure-client.ts';
import { AzureSubscriber } from './azure-subscriber.ts';
import { BadVariable, type Driver, type Opening } from './driver.ts';
import { demandPackage } from './package.ts';

/** Microsoft's client package. It is loaded only when an active configuration uses it. */
const PACKAGE = '@azure/service-bus';

/** Azure Service Bus: publishes to topics or queues, and receives from subscriptions of topics. */
export const azure: Driver = {
  name: 'Azure Service Bus',
  variable: 'SERVICEBUS_CONNECTION_STRING',
  publisher(opening) {
    const { site, field, address, log } = opening;
    onlyParams(site, field, address, []);
    const topic = entityOf(opening, address.place, 'topic');
    return (said) => {
      site.connectsTo(upstreamOf(said), `/${field}`);
      const kept = site.keep(
        ['publisher', keyOf(said), topic],
        () => new AzurePublisher(said, topic, site.use('denied')),
        (old) => old.close(),
      );
      site.start(() => kept.open(log), { in: 'each' });
      return kept;
    };
  },
  subscriber(opening) {
    const { site, field, address, log } = opening;
    onlyParams(site, field, address, ['subscription']);
    const topic = entityOf(opening, address.place, 'topic');
    const named = paramOf(site, field, address, 'subscription');
    if (named === undefined) {
      throw site.fault('PUBSUB_PARAMETER', `/${field}`, `"${address.text}" names no subscription`, {
        hint: '?subscription=gateways',
      });
    }
    const subscription = entityOf(opening, named, 'subscription');
    return (said) => {
      site.connectsTo(upstreamOf(said), `/${field}`);
      const kept = site.keep(
        ['subscriber', keyOf(said), topic, subscription],
        () => new AzureSubscriber(said, topic, subscription, site.use('denied')),
        (old) => old.close(),
      );
      site.start(() => kept.open(log), { in: 'each' });
      return kept;
    };
  },
};

/** @throws ConfigError PUBSUB_ADDRESS, PUBSUB_PACKAGE */
function entityOf(opening: Opening, name: string, what: string): string {
  const { site, field, address } = opening;
  if (!/^[a-z\d](?:[\w./-]{0,258}[a-z\d])?$/i.test(name)) {
    throw site.fault('PUBSUB_ADDRESS', `/${field}`, `"${address.text}": "${name}" is not a valid ${what} name`, {
      hint: 'azuresb://orders?subscription=gateways',
    });
  }
  demandPackage(opening, PACKAGE);
  return name;
}

const AMQP_PORT = 5672;
const AMQPS_PORT = 5671;

/** Server of a connection string. Uses TLS unless it is an emulator. @throws BadVariable */
function upstreamOf(said: string): Upstream {
  const fields = new Map(
    said.split(';').map((field) => {
      const at = field.indexOf('=');
      return [field.slice(0, at).trim(), field.slice(at + 1).trim()];
    }),
  );
  const hasKey = Boolean(fields.get('SharedAccessKeyName') && fields.get('SharedAccessKey'));
  const server = /^sb:\/\/([^/\s]+)\/?$/.exec(fields.get('Endpoint') ?? '')?.[1];
  if (server !== undefined && (hasKey || fields.get('SharedAccessSignature'))) {
    const isEmulator = fields.get('UseDevelopmentEmulator') === 'true';
    return isEmulator ? { address: server, port: AMQP_PORT } : { address: server, port: AMQPS_PORT, tls: runtimeTls };
  }
  throw new BadVariable('SERVICEBUS_CONNECTION_STRING is not a connection string with an Endpoint and a key');
}

/** Publishes to one topic. Each message is sent once, and succeeds when the server has confirmed it. */
class AzurePublisher implements Publisher {
  readonly #kept: KeptLink<SenderLink>;

  constructor(connection: string, topic: string, denied: DeniedAddresses) {
    this.#kept = new KeptLink({
      name: `Service Bus, ${topic}`,
      connect: (_onLost, signal) => openSender(connection, topic, denied, signal),
    });
  }

  open(log: Parameters<KeptLink<SenderLink>['open']>[0]): void {
    this.#kept.open(log);
  }

  async send({ payload, headers }: Message, call: Call): Promise<void> {
    const link = await this.#kept.current(call);
    try {
      await link.send({ body: Buffer.from(payload), applicationProperties: Object.fromEntries(headers) }, call);
    } catch (error) {
      if (call.reason) throw call.reason;
      throw new BackendError('AZURE_FAILED', `${this.#kept.name}: ${reasonOf(error)}`, { cause: error });
    }
  }

  close(): Promise<void> {
    return this.#kept.close();
  }
}
