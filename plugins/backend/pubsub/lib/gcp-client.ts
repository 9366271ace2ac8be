import type { Duplex } from 'node:stream';
import type { v1 } from '@google-cloud/pubsub';
import { reasonOf as causesOf, type Link } from '../../../services/broker/kept-link.ts';

/** Longest time to connect, in milliseconds. */
const CONNECT_MS = 10_000;
/** A server that refuses a stream does so by then; one that says nothing has accepted it, in milliseconds. */
const ACCEPTED_MS = 1000;
/** Of silence after which the server is asked whether it is there, and how long it has to say so, in milliseconds. */
const PING_MS = 30_000;
const PONG_MS = 10_000;
/** Status of gRPC by which a server says that the account may not do what it was asked. */
const PERMISSION_DENIED = 7;

export type PublisherClient = InstanceType<typeof v1.PublisherClient>;
export type SubscriberClient = InstanceType<typeof v1.SubscriberClient>;

/** A client that has reached its server. */
export interface PublisherLink extends Link {
  readonly client: PublisherClient;
}

/** A message as Pub/Sub hands it over. */
export interface ReceivedMessage {
  readonly ackId?: string | null;
  readonly message?: {
    readonly data?: Uint8Array | string | null;
    readonly attributes?: Readonly<Record<string, string>> | null;
    readonly orderingKey?: string | null;
  } | null;
}

/** Opens a stream of messages. */
export interface PullRequest {
  readonly subscription: string;
  readonly streamAckDeadlineSeconds: number;
  /** How many messages, and how many bytes of them, are handed over and not settled. */
  readonly maxOutstandingMessages: number;
  readonly maxOutstandingBytes: number;
}

/** What the server or the client says, without remarks that are empty. */
export function reasonOf(error: unknown): string {
  return causesOf(error).replace(/\s*Resolution note:\s*$/, '');
}

/** How a client is told of its server and account; the library looks at the environment. */
async function prepare() {
  const { PubSub, v1: clients } = await import('@google-cloud/pubsub');
  const channel: object = {
    'grpc.keepalive_time_ms': PING_MS,
    'grpc.keepalive_timeout_ms': PONG_MS,
    // A new client does not wait because the last one could not connect.
    'grpc.use_local_subchannel_pool': 1,
  };
  // An emulator has no accounts: the library would ask the machine for one all the same.
  const account: object = process.env['PUBSUB_EMULATOR_HOST']
    ? { clientOptions: { universeDomain: 'googleapis.com' } }
    : {};
  // Every name is a full one.
  const config = await new PubSub({ projectId: 'none', ...channel, ...account }).getClientConfig();
  return { clients, options: config as ConstructorParameters<typeof v1.PublisherClient>[0] };
}

/**
 * Makes a client for a topic, and asks the server for that. An account that may only publish cannot know about it, which is
 * no matter. @throws Error with what the server says.
 */
export async function openPublisherLink(topic: string, signal: AbortSignal): Promise<PublisherLink> {
  const { clients, options } = await prepare();
  const client = new clients.PublisherClient(options);
  try {
    await client.getTopic({ topic }, { timeout: CONNECT_MS, retry: null, signal });
  } catch (error) {
    if ((error as { code?: unknown }).code !== PERMISSION_DENIED) {
      await close(client);
      throw error;
    }
  }
  return { client, close: () => close(client) };
}

/** A client for a subscription; it connects with its first request. */
export async function makeSubscriberClient(): Promise<SubscriberClient> {
  const { clients, options } = await prepare();
  return new clients.SubscriberClient(options);
}

/** Resolves once the client has a connection. */
async function connected(client: SubscriberClient): Promise<void> {
  const stub = (await client.initialize()) as unknown as {
    waitForReady(deadline: number, done: (error?: Error) => void): void;
  };
  await new Promise<void>((resolve, reject) => {
    stub.waitForReady(Date.now() + CONNECT_MS, (error) => (error ? reject(error) : resolve()));
  });
}

/** A client that never got its credentials has nothing to close. */
export async function close(client: PublisherClient | SubscriberClient): Promise<void> {
  await client.close().catch(() => {});
}

/** Requests go one way, messages the other. */
export type PullStream = Duplex & { cancel(): void };

/** What a stream of messages calls. */
export interface PullHandlers {
  readonly receive: (messages: readonly ReceivedMessage[]) => void;
  /** Called once when the stream has ended, whoever ended it; with an error where it has failed. */
  readonly ended: (error: Error | null) => void;
}

/** Opens a stream. @returns once the server has accepted it. @throws Error with what the server says. */
export function openPull(
  client: SubscriberClient,
  request: PullRequest,
  { receive, ended }: PullHandlers,
  signal: AbortSignal,
): Promise<PullStream> {
  return new Promise((resolve, reject) => {
    const stream = client.streamingPull({ retry: null }) as unknown as PullStream;
    let isAccepted = false;
    const accept = () => {
      if (isAccepted) return;
      isAccepted = true;
      settle();
      resolve(stream);
    };
    let isOver = false;
    const end = (error: Error | null) => {
      if (isOver) return;
      isOver = true;
      settle();
      // What it has answered is read before it is left.
      if (isAccepted) ended(error);
      else reject(error ?? new Error('the server has ended the stream'));
      stream.cancel();
    };
    const late = setTimeout(() => end(new Error(`no response within ${CONNECT_MS}ms`)), CONNECT_MS);
    let silent: NodeJS.Timeout | undefined;
    const settle = () => {
      clearTimeout(late);
      clearTimeout(silent);
      signal.removeEventListener('abort', abort);
    };
    const abort = () => end(new Error('given up'));
    signal.addEventListener('abort', abort, { once: true });
    stream.on('error', end);
    stream.on('end', () => end(null));
    stream.once('metadata', accept);
    stream.on('data', (response: { receivedMessages?: readonly ReceivedMessage[] | null }) => {
      accept();
      receive(response.receivedMessages ?? []);
    });
    stream.write(request);
    connected(client).then(
      () => {
        if (!isAccepted && !isOver) silent = setTimeout(accept, ACCEPTED_MS);
      },
      // The stream says why.
      () => {},
    );
    if (signal.aborted) abort();
  });
}
