import { BackendError, type Call, type Log } from '#contract';
import { KeptLink } from '../../../clients/broker/kept-link.ts';
import { keyOf } from '../../../clients/broker/key-of.ts';
import type { Message, Publisher } from '../../../clients/broker/message.ts';
import { runtimeTls } from '../../../clients/tls/client-tls.ts';
import { onlyParams } from './address.ts';
import type { Driver, Opening } from './driver.ts';
import { openPublisherLink, type PublisherLink, reasonOf } from './gcp-client.ts';
import { GcpSubscriber } from './gcp-subscriber.ts';
import { demandPackage } from './package.ts';

/** Google's client package. It is loaded only when an active configuration uses it. */
const PACKAGE = '@google-cloud/pubsub';
/** Limits of Pub/Sub attributes: maximum number, and maximum length of names and values in bytes. */
const MAX_ATTRIBUTES = 100;
const MAX_NAME_BYTES = 256;
const MAX_VALUE_BYTES = 1024;
/** Timeout of a publish request without a deadline, in milliseconds. */
const LONGEST_MS = 600_000;

/**
 * Google Cloud Pub/Sub. The account comes from `GOOGLE_APPLICATION_CREDENTIALS` or the machine. `PUBSUB_EMULATOR_HOST`
 * sets another server, which is called without TLS.
 */
export const gcp: Driver = {
  name: 'Google Cloud Pub/Sub',
  publisher(opening) {
    const { site, log } = opening;
    const topic = resourceOf(opening, 'topics');
    return () => {
      const kept = site.keep(
        ['publisher', accountKey(), topic],
        () => new GcpPublisher(topic, log),
        (old) => old.close(),
      );
      site.start(() => kept.open(log), { in: 'each' });
      return kept;
    };
  },
  subscriber(opening) {
    const { site, log } = opening;
    const subscription = resourceOf(opening, 'subscriptions');
    return () => {
      const kept = site.keep(
        ['subscriber', accountKey(), subscription],
        () => new GcpSubscriber(subscription),
        (old) => old.close(),
      );
      site.start(() => kept.open(log), { in: 'each' });
      return kept;
    };
  },
};

/** Returns the full resource name. @throws ConfigError PUBSUB_ADDRESS, PUBSUB_PARAMETER, PUBSUB_PACKAGE */
function resourceOf(opening: Opening, kind: 'topics' | 'subscriptions'): string {
  const { site, field, address } = opening;
  onlyParams(site, field, address, []);
  const [, project, name] =
    /^(?:projects\/)?([a-z][a-z\d.:-]{1,99})\/(?:(?:topics|subscriptions)\/)?([a-z][\w.~+%-]{2,254})$/i.exec(
      address.place,
    ) ?? [];
  const isShort = address.place.split('/').length === 2;
  if (project === undefined || !(isShort || address.place === `projects/${project}/${kind}/${name}`)) {
    const what = kind.slice(0, -1);
    throw site.fault('PUBSUB_ADDRESS', `/${field}`, `"${address.text}" is not a valid ${what} address`, {
      hint: `gcppubsub://projects/my-project/${kind}/orders`,
    });
  }
  demandPackage(opening, PACKAGE);
  const server = process.env['PUBSUB_EMULATOR_HOST'] || SERVER;
  site.connectsTo({ address: server, tls: isOfGoogle.test(server) ? overHttp2 : null }, `/${field}`);
  return `projects/${project}/${kind}/${name}`;
}

const SERVER = 'pubsub.googleapis.com:443';
/**
 * Whether the server is one of Google's, which use TLS. The environment variable may also name a regional server
 * instead of an emulator.
 */
const isOfGoogle = /\.googleapis\.com(?::\d+)?$/;

const overHttp2 = () => ({ ...runtimeTls(), ALPNProtocols: ['h2'] });

/** Key that distinguishes accounts and servers. */
function accountKey(): string {
  const { GOOGLE_APPLICATION_CREDENTIALS: file, PUBSUB_EMULATOR_HOST: emulator } = process.env;
  return keyOf([file ?? '', emulator ?? '']);
}

/** Publishes to one topic, with one request per message and without automatic retries. */
class GcpPublisher implements Publisher {
  readonly #topic: string;
  readonly #kept: KeptLink<PublisherLink>;
  readonly #attributesOf: (message: Message) => Record<string, string>;

  constructor(topic: string, log: Log) {
    this.#topic = topic;
    this.#attributesOf = attributesFor(log);
    this.#kept = new KeptLink({
      name: `Pub/Sub, ${topic}`,
      reasonOf,
      connect: (_onLost, signal) => openPublisherLink(topic, signal),
    });
  }

  open(log: Log): void {
    this.#kept.open(log);
  }

  async send(message: Message, call: Call): Promise<void> {
    const { client } = await this.#kept.current(call);
    const data = Buffer.from(message.payload);
    const messages = [{ data, attributes: this.#attributesOf(message) }];
    const timeout = Math.min(Math.max(Math.ceil(call.remainingMs), 1), LONGEST_MS);
    try {
      await client.publish({ topic: this.#topic, messages }, { timeout, retry: null, signal: call.signal });
    } catch (error) {
      if (call.reason) throw call.reason;
      throw new BackendError('GCP_FAILED', `${this.#kept.name}: ${reasonOf(error)}`, { cause: error });
    }
  }

  close(): Promise<void> {
    return this.#kept.close();
  }
}

/** Converts headers to attributes. Those beyond Pub/Sub's limits, for which it would reject the message, are omitted with a single warning. */
function attributesFor(log: Log): (message: Message) => Record<string, string> {
  let isReported = false;
  return ({ headers }) => {
    const taken = headers.filter(
      ([name, value]) =>
        !/^goog/i.test(name) &&
        Buffer.byteLength(name) <= MAX_NAME_BYTES &&
        Buffer.byteLength(value) <= MAX_VALUE_BYTES,
    );
    if (!isReported && (taken.length < headers.length || taken.length > MAX_ATTRIBUTES)) {
      isReported = true;
      log.warning(
        `headers were dropped: Pub/Sub accepts at most ${MAX_ATTRIBUTES}, of at most ${MAX_VALUE_BYTES} bytes each, with names that do not start with goog`,
      );
    }
    return Object.fromEntries(taken.slice(0, MAX_ATTRIBUTES));
  };
}
