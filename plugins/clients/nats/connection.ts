import type { NatsConnection as Client, Msg, SubscriptionOptions, TlsOptions } from '@nats-io/transport-node';
import { BackendError, type Call, type Log } from '#contract';
import { during } from '../../shared/calls/during.ts';
import { KeptLink, type Link, reasonOf } from '../broker/kept-link.ts';
import type { Message } from '../broker/message.ts';
import { OwnSockets } from '../broker/own-sockets.ts';
import type { NatsSettings } from './address.ts';
import { loadNats } from './library.ts';
import { demandedTls } from './tls.ts';

/** Longest time to connect, in milliseconds. */
const CONNECT_MS = 5000;
/** Longest wait for a connection to close, in milliseconds. */
const GOODBYE_MS = 1000;
/** Interval of PINGs to the server, in milliseconds; the connection is lost after two without a response. */
const PING_MS = 10_000;
/** Maximum number of bytes that the server has not confirmed yet; beyond it, publishing fails immediately. */
const MAX_UNCONFIRMED_BYTES = 64 * 1024 * 1024;
/** Maximum number of subjects per connection whose rejections are counted: the server names them. */
const MAX_REFUSED = 1000;

/** A subscription to a subject, renewed on every new connection. */
export interface NatsSubscription {
  readonly subject: string;
  /** Queue group whose members share the messages. */
  readonly queue: string | undefined;
  readonly receive: (message: Msg) => void;
  /** Called when the server denies the subscription. */
  readonly refused: (error: Error) => void;
}

export interface NatsLink extends Link {
  readonly client: Client;
  publish(subject: string, message: Message): void;
  /** Waits until the server has received everything published so far; concurrent callers share one round trip. */
  confirm(): Promise<void>;
  /** Subjects to which the server denied publishing, with the number of denials. */
  readonly refusals: ReadonlyMap<string, number>;
}

/** A NATS connection shared by all publishers and subscribers. */
export class NatsConnection {
  readonly #kept: KeptLink<NatsLink>;
  readonly #subscriptions = new Set<NatsSubscription>();
  #unconfirmedBytes = 0;

  constructor(settings: NatsSettings, name: string) {
    this.#kept = new KeptLink({
      name,
      connect: async (onLost, signal) => {
        const link = await openNats(settings, onLost, signal);
        for (const subscription of this.#subscriptions) listen(link.client, subscription);
        return link;
      },
    });
  }

  open(log: Log): void {
    this.#kept.open(log);
  }

  close(): Promise<void> {
    return this.#kept.close();
  }

  /** Waits for the connection. Without a connection, throws the errors of `KeptLink.current`. */
  async ready(call: Call): Promise<void> {
    await this.#kept.current(call);
  }

  /** Whether the connection is open. */
  get isConnected(): boolean {
    return this.#kept.opened !== null;
  }

  /** Publishes, and waits until the server has received the message. @throws BackendError NATS_REFUSED, BROKER_NOT_CONNECTED */
  async publish(subject: string, message: Message, call: Call): Promise<void> {
    const link = await this.#kept.current(call);
    if (this.#unconfirmedBytes + message.payload.length > MAX_UNCONFIRMED_BYTES) {
      throw new BackendError('NATS_SLOW', `${this.#kept.name}: the server has not confirmed too many messages`);
    }
    const refusedBefore = link.refusals.get(subject);
    try {
      link.publish(subject, message);
      await during(call, this.#confirmed(link, message.payload.length));
    } catch (error) {
      if (call.reason) throw call.reason;
      throw new BackendError('NATS_FAILED', `${this.#kept.name}: ${reasonOf(error)}`, { cause: error });
    }
    if (link.refusals.get(subject) !== refusedBefore) {
      throw new BackendError('NATS_REFUSED', `${this.#kept.name}: no permission to publish to "${subject}"`);
    }
  }

  async #confirmed(link: NatsLink, bytes: number): Promise<void> {
    this.#unconfirmedBytes += bytes;
    try {
      await link.confirm();
    } finally {
      this.#unconfirmedBytes -= bytes;
    }
  }

  /** Starts a subscription. @returns a function that ends it. */
  subscribe(subscription: NatsSubscription): () => void {
    this.#subscriptions.add(subscription);
    const { opened } = this.#kept;
    let stop = opened ? listen(opened.client, subscription) : () => {};
    return () => {
      this.#subscriptions.delete(subscription);
      stop();
      stop = () => {};
    };
  }
}

/** Subscribes on one connection. @returns a function that ends the subscription. */
export function listen(client: Client, { subject, queue, receive, refused }: NatsSubscription): () => void {
  const options: SubscriptionOptions = { callback: (error, message) => (error ? refused(error) : receive(message)) };
  if (queue !== undefined) options.queue = queue;
  const subscription = client.subscribe(subject, options);
  return () => {
    if (!client.isClosed()) subscription.unsubscribe();
  };
}

/**
 * Connects once.
 * @param onLost called once if the connection ends on its own. @param signal cancels the attempt. @throws Error with
 * the reason.
 */
export async function openNats(
  settings: NatsSettings,
  onLost: (error: Error) => void,
  signal: AbortSignal,
): Promise<NatsLink> {
  const nats = await loadNats();
  const { servers, user, password, token, needsTls, denied } = settings;
  const sockets = new OwnSockets(denied);
  const client = await sockets.connect(CONNECT_MS, signal, () =>
    nats.connect({
      servers: [...servers],
      name: 'sluice',
      // Reconnection is disabled in the library, because the owner of the link reconnects.
      reconnect: false,
      timeout: CONNECT_MS,
      pingInterval: PING_MS,
      maxPingOut: 2,
      noAsyncTraces: true,
      ...(user !== undefined && { user, pass: password ?? '' }),
      ...(token !== undefined && { token }),
      ...(needsTls && { tls: demandedTls(settings) as TlsOptions }),
    }),
  );
  const refusals = new Map<string, number>();
  const unconfirmed = new Set<(reason: Error) => void>();
  let isClosing = false;
  let confirming: Promise<void> | null = null;
  void client.closed().then((error) => {
    const loss = error instanceof Error ? error : new Error('closed by the server');
    for (const reject of unconfirmed) reject(loss);
    if (!isClosing) onLost(loss);
  });
  void (async () => {
    for await (const status of client.status()) {
      if (status.type !== 'error' || !(status.error instanceof nats.PermissionViolationError)) continue;
      const { operation, subject } = status.error;
      if (operation !== 'publish') continue;
      const count = refusals.get(subject) ?? 0;
      if (count > 0 || refusals.size < MAX_REFUSED) refusals.set(subject, count + 1);
    }
  })();
  const flush = (): Promise<void> =>
    new Promise((resolve, reject) => {
      unconfirmed.add(reject);
      client
        .flush()
        // Earlier messages from the server are processed one turn of the event loop later.
        .then(() => setImmediate(resolve), reject)
        .finally(() => unconfirmed.delete(reject));
    });
  return {
    client,
    refusals,
    publish(subject, { payload, headers }) {
      if (headers.length === 0) return client.publish(subject, payload);
      const all = nats.headers();
      for (const [name, value] of headers) all.append(name, value);
      client.publish(subject, payload, { headers: all });
    },
    confirm() {
      confirming ??= Promise.resolve().then(() => {
        confirming = null;
        return flush();
      });
      return confirming;
    },
    close() {
      isClosing = true;
      return sockets.end(GOODBYE_MS, () => client.close());
    },
  };
}
