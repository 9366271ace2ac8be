import { setTimeout as pause } from 'node:timers/promises';
import type {
  ProcessErrorArgs,
  ServiceBusClient,
  ServiceBusMessage,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
} from '@azure/service-bus';
import type { Call, DeniedAddresses } from '#contract';
import type { Link } from '../../../clients/broker/kept-link.ts';
import { OwnSockets } from '../../../clients/broker/own-sockets.ts';
import { during } from '../../../shared/calls/during.ts';

/** Timeout for connecting and for server responses, in milliseconds. */
const CONNECT_MS = 5000;
/** Time in which a server that rejects a link closes it with the reason, after opening it first. In milliseconds. */
const REFUSED_MS = 100;
/** Timeout for closing a connection, in milliseconds. */
const GOODBYE_MS = 2000;

/** Error that the library receives for closed sockets. */
const CLOSED = new Error('closed by the gateway');

/** Creates a client without automatic reconnection. */
async function makeClient(connection: string): Promise<ServiceBusClient> {
  const { ServiceBusClient } = await import('@azure/service-bus');
  return new ServiceBusClient(connection, { retryOptions: { maxRetries: 0, timeoutInMs: CONNECT_MS } });
}

/** Connection that publishes to one topic. */
export interface SenderLink extends Link {
  /** @returns a promise that resolves once the server has accepted the message. */
  send(message: ServiceBusMessage, call: Call): Promise<void>;
}

/** @throws Error with the reason if the connection fails. */
export async function openSender(
  connection: string,
  topic: string,
  denied: DeniedAddresses,
  signal: AbortSignal,
): Promise<SenderLink> {
  const client = await makeClient(connection);
  const sockets = new OwnSockets(denied, 0, CLOSED);
  const close = () => sockets.end(GOODBYE_MS, () => client.close());
  try {
    const sender = client.createSender(topic);
    // Creating a batch opens the sender's link, because a batch needs the maximum message size of the link.
    await sockets.connect(CONNECT_MS, signal, () => sender.createMessageBatch());
    return {
      send: (message, call) =>
        during(
          call,
          sockets.run(() => sender.sendMessages(message, { abortSignal: call.signal })),
        ),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Event handlers of a receiving connection. */
export interface ReceiverHandlers {
  /** @returns a promise that resolves once the message has been acknowledged or returned. Until then it takes up space. */
  readonly receive: (message: ServiceBusReceivedMessage) => Promise<void>;
  /** Called when received messages can no longer be acknowledged or returned. The server redelivers them. */
  readonly forget: () => void;
}

/** Connection that receives messages of one subscription. */
export interface ReceiverLink extends Link {
  readonly receiver: ServiceBusReceiver;
  /** Stops receiving messages. Those already received can still be acknowledged or returned. */
  stop(): Promise<void>;
}

/**
 * Receives messages until the link is closed.
 * @param room maximum number of messages that are neither acknowledged nor returned yet.
 * @param onLost called once.
 * @throws Error with the reason if the connection fails.
 */
export async function openReceiver(
  connection: string,
  { topic, subscription, room }: { topic: string; subscription: string; room: number },
  { receive, forget }: ReceiverHandlers,
  denied: DeniedAddresses,
  onLost: (error: Error) => void,
  signal: AbortSignal,
): Promise<ReceiverLink> {
  const client = await makeClient(connection);
  const sockets = new OwnSockets(denied, 0, CLOSED);
  const ending = new AbortController();
  const close = () => {
    // Attempts to open the link are aborted, because the library waits too long between them.
    ending.abort();
    return sockets.end(GOODBYE_MS, () => client.close());
  };
  const receiver = client.createReceiver(topic, subscription, {
    receiveMode: 'peekLock',
    skipParsingBodyAsJson: true,
    // Locks are not renewed automatically, because the library would do that even after the connection is lost.
    maxAutoLockRenewalDurationInMs: 0,
  });
  const opening = Promise.withResolvers<void>();
  let isOpen = false;
  const handlers = {
    processMessage: receive,
    async processError({ error, errorSource }: ProcessErrorArgs) {
      // The error affects only one message, which the server redelivers.
      if (errorSource !== 'receive') return;
      if (isOpen) onLost(error);
      else opening.reject(error);
    },
    // Called each time the library has opened its link. If only the link was closed, the library reopens it.
    async postInitialize() {
      if (isOpen) return forget();
      await pause(REFUSED_MS, undefined, { ref: false });
      isOpen = true;
      opening.resolve();
    },
  };
  try {
    const subscribed = sockets.run(() =>
      receiver.subscribe(handlers, {
        autoCompleteMessages: false,
        maxConcurrentCalls: room,
        abortSignal: ending.signal,
      }),
    );
    await sockets.connect(CONNECT_MS, signal, () => opening.promise);
    return { receiver, close, stop: () => subscribed.close() };
  } catch (error) {
    await close();
    throw error;
  }
}
