import { setTimeout as pause } from 'node:timers/promises';
import type {
  ProcessErrorArgs,
  ServiceBusClient,
  ServiceBusMessage,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
} from '@azure/service-bus';
import type { Call, DeniedAddresses } from '#contract';
import { during } from '../../../services/broker/during.ts';
import type { Link } from '../../../services/broker/kept-link.ts';
import { OwnSockets } from '../../../services/broker/own-sockets.ts';

/** Longest time to connect, and for anything that the server is to say, in milliseconds. */
const CONNECT_MS = 5000;
/** A server that refuses a link opens it first, and closes it with the reason by then, in milliseconds. */
const REFUSED_MS = 100;
/** Longest wait for the end of a connection, in milliseconds. */
const GOODBYE_MS = 2000;

/** What the library hears of sockets that are closed. */
const CLOSED = new Error('closed by the gateway');

/** Connects again by nothing but what asks for it. */
async function makeClient(connection: string): Promise<ServiceBusClient> {
  const { ServiceBusClient } = await import('@azure/service-bus');
  return new ServiceBusClient(connection, { retryOptions: { maxRetries: 0, timeoutInMs: CONNECT_MS } });
}

/** A connection that publishes to one topic. */
export interface SenderLink extends Link {
  /** @returns once the server has it. */
  send(message: ServiceBusMessage, call: Call): Promise<void>;
}

/** @throws Error with the reason. */
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
    // Which has to know how long a message may be, and opens its link to ask for that.
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

/** What happens on a connection that receives. */
export interface ReceiverHandlers {
  /** @returns a promise that is settled with the message: until then it counts among those that are held. */
  readonly receive: (message: ServiceBusReceivedMessage) => Promise<void>;
  /** Messages of before cannot be settled any more: the server hands them over again. */
  readonly forget: () => void;
}

/** A connection that receives messages of one subscription. */
export interface ReceiverLink extends Link {
  readonly receiver: ServiceBusReceiver;
  /** No further message is handed over; what becomes of the others can still be said. */
  stop(): Promise<void>;
}

/**
 * Receives until it is closed.
 * @param room messages that are held and not settled. @param onLost called once. @throws Error with the reason.
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
    // Between attempts to open its link the library waits for longer than anybody else.
    ending.abort();
    return sockets.end(GOODBYE_MS, () => client.close());
  };
  const receiver = client.createReceiver(topic, subscription, {
    receiveMode: 'peekLock',
    skipParsingBodyAsJson: true,
    // The library goes on renewing locks of connections that are gone.
    maxAutoLockRenewalDurationInMs: 0,
  });
  const opening = Promise.withResolvers<void>();
  let isOpen = false;
  const handlers = {
    processMessage: receive,
    async processError({ error, errorSource }: ProcessErrorArgs) {
      // Of a single message: it comes again.
      if (errorSource !== 'receive') return;
      if (isOpen) onLost(error);
      else opening.reject(error);
    },
    // Called whenever the library has opened its link, which it does again by itself where only that was closed.
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
