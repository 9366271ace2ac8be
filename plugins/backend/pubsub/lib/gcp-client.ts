import type { Duplex } from 'node:stream';
import type { v1 } from '@google-cloud/pubsub';
import { reasonOf as causesOf, type Link } from '../../../clients/broker/kept-link.ts';

/** Connection timeout, in milliseconds. */
const CONNECT_MS = 10_000;
/** Time in which a server rejects a stream, in milliseconds. A stream without a response by then counts as accepted. */
const ACCEPTED_MS = 1000;
/** Time without traffic after which the server is pinged, and timeout of its response, in milliseconds. */
const PING_MS = 30_000;
const PONG_MS = 10_000;
/** gRPC status for an account without the required permission. */
const PERMISSION_DENIED = 7;

export type PublisherClient = InstanceType<typeof v1.PublisherClient>;
export type SubscriberClient = InstanceType<typeof v1.SubscriberClient>;

/** A client that has connected to its server. */
export interface PublisherLink extends Link {
  readonly client: PublisherClient;
}

/** A message as delivered by Pub/Sub. */
export interface ReceivedMessage {
  readonly ackId?: string | null;
  readonly message?: {
    readonly data?: Uint8Array | string | null;
    readonly attributes?: Readonly<Record<string, string>> | null;
    readonly orderingKey?: string | null;
  } | null;
}

/** Request that opens a stream of messages. */
export interface PullRequest {
  readonly subscription: string;
  readonly streamAckDeadlineSeconds: number;
  /** Maximum number of messages that are not acknowledged yet, and of their bytes. */
  readonly maxOutstandingMessages: number;
  readonly maxOutstandingBytes: number;
}

/** Returns the error message of the server or client, without an empty resolution note. */
export function reasonOf(error: unknown): string {
  return causesOf(error).replace(/\s*Resolution note:\s*$/, '');
}

/** Prepares the client options. The library reads the server and account from the environment. */
async function prepare() {
  const { PubSub, v1: clients } = await import('@google-cloud/pubsub');
  const channel: object = {
    'grpc.keepalive_time_ms': PING_MS,
    'grpc.keepalive_timeout_ms': PONG_MS,
    // Prevents a new client from waiting because of an earlier one that could not connect.
    'grpc.use_local_subchannel_pool': 1,
  };
  // Credentials are not looked up for an emulator, which has no accounts: the library would query the machine for one.
  const account: object = process.env['PUBSUB_EMULATOR_HOST']
    ? { clientOptions: { universeDomain: 'googleapis.com' } }
    : {};
  // The library requires a project ID but does not use it, because all resource names are complete.
  const config = await new PubSub({ projectId: 'none', ...channel, ...account }).getClientConfig();
  return { clients, options: config as ConstructorParameters<typeof v1.PublisherClient>[0] };
}

/**
 * Creates a client for a topic, and checks that the topic exists. Accounts that may only publish lack permission for
 * the check, which is ignored.
 * @throws Error with the server's message.
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

/** Creates a client for a subscription. It connects at its first request. */
export async function makeSubscriberClient(): Promise<SubscriberClient> {
  const { clients, options } = await prepare();
  return new clients.SubscriberClient(options);
}

/** Resolves once the client is connected. */
async function connected(client: SubscriberClient): Promise<void> {
  const stub = (await client.initialize()) as unknown as {
    waitForReady(deadline: number, done: (error?: Error) => void): void;
  };
  await new Promise<void>((resolve, reject) => {
    stub.waitForReady(Date.now() + CONNECT_MS, (error) => (error ? reject(error) : resolve()));
  });
}

/** Closes a client. Errors are ignored, since a client that never got credentials has nothing to close. */
export async function close(client: PublisherClient | SubscriberClient): Promise<void> {
  await client.close().catch(() => {});
}

/** Bidirectional stream of requests and messages. */
export type PullStream = Duplex & { cancel(): void };

/** Event handlers of a message stream. */
export interface PullHandlers {
  readonly receive: (messages: readonly ReceivedMessage[]) => void;
  /** Called once when the stream has ended, on either side; with an error if it has failed. */
  readonly ended: (error: Error | null) => void;
}

/** Opens a stream. @returns a promise that resolves once the server has accepted it. @throws Error with the server's message. */
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
      // The outcome is read before the stream is canceled, which would change it.
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
      // The error is ignored here, because the stream itself reports the reason.
      () => {},
    );
    if (signal.aborted) abort();
  });
}
