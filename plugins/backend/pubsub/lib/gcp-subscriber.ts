import { setTimeout as pause } from 'node:timers/promises';
import type { Call, Log } from '#contract';
import { Inbox } from '../../../clients/broker/inbox.ts';
import { KeptLink, type Link } from '../../../clients/broker/kept-link.ts';
import type { Delivery, Subscriber } from '../../../clients/broker/message.ts';
import {
  close,
  makeSubscriberClient,
  openPull,
  type PullRequest,
  type PullStream,
  type ReceivedMessage,
  reasonOf,
  type SubscriberClient,
} from './gcp-client.ts';
import { LEASE_S, Leases, type Settling } from './gcp-leases.ts';

/** Maximum number of messages waiting for a request, and of their bytes. The server delivers no more than that. */
const CAPACITY = 100;
const CAPACITY_BYTES = 64 * 1024 * 1024;
/** Timeouts for closing a stream, and for acknowledging or returning messages, in milliseconds. */
const GOODBYE_MS = 1000;
const SETTLE_MS = 3000;
/** Minimum duration of a stream that is reopened without a log message, in milliseconds. Servers regularly end every stream. */
const LASTED_MS = 5000;

interface GcpDelivery extends Delivery {
  readonly ackId: string;
}

/** Receives a stream of messages from a subscription, and passes them to requests. */
export class GcpSubscriber implements Subscriber {
  readonly #inbox = new Inbox<GcpDelivery>();
  readonly #leases = new Leases(() => this.#log);
  readonly #kept: KeptLink<PullLink>;
  #log: Log | null = null;
  #isClosing = false;

  constructor(subscription: string) {
    this.#kept = new KeptLink({
      name: `Pub/Sub, ${subscription}`,
      reasonOf,
      connect: async (onLost, signal) => {
        const link = new PullLink(subscription, (messages) => this.#receive(messages));
        await link.open((error) => {
          this.#leases.use(null);
          onLost(error);
        }, signal);
        this.#leases.use(link);
        return link;
      },
    });
  }

  open(log: Log): void {
    this.#log = log;
    this.#kept.open(log);
  }

  async next(call: Call): Promise<Delivery> {
    for (;;) {
      if (this.#inbox.size === 0) await this.#kept.current(call);
      const delivery = await this.#inbox.take(call);
      if (this.#leases.isHeld(delivery.ackId)) return delivery;
    }
  }

  putBack(delivery: Delivery): void {
    this.#inbox.putBack(delivery as GcpDelivery);
  }

  /** Returns messages that no request has taken. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#kept.opened?.stop();
    for (const { ackId } of this.#inbox.empty()) this.#leases.giveBack(ackId);
    await this.#leases.end(SETTLE_MS);
    await this.#kept.close();
  }

  #receive(messages: readonly ReceivedMessage[]): void {
    // Messages with expired leases are removed: the server redelivers them, and they would occupy capacity.
    this.#inbox.retain(({ ackId }) => this.#leases.isHeld(ackId));
    for (const { ackId, message } of messages) {
      if (!ackId) continue;
      this.#leases.add(ackId);
      // Returns messages beyond the requested number to the server.
      if (this.#isClosing || this.#inbox.size >= CAPACITY) {
        this.#leases.giveBack(ackId);
        continue;
      }
      const { data, attributes, orderingKey } = message ?? {};
      this.#inbox.put({
        ackId,
        payload: typeof data === 'string' ? Buffer.from(data, 'base64') : (data ?? new Uint8Array()),
        headers: Object.entries(attributes ?? {}),
        key: orderingKey || undefined,
        accept: () => this.#leases.accept(ackId),
        giveBack: () => this.#leases.giveBack(ackId),
      });
    }
  }
}

/** A client with an open stream. */
class PullLink implements Link, Settling {
  readonly #subscription: string;
  readonly #receive: (messages: readonly ReceivedMessage[]) => void;
  readonly #ending = new AbortController();
  #client: SubscriberClient | null = null;
  #stream: PullStream | null = null;
  #ended = Promise.withResolvers<void>();
  #isStopping = false;

  constructor(subscription: string, receive: (messages: readonly ReceivedMessage[]) => void) {
    this.#subscription = subscription;
    this.#receive = receive;
  }

  async open(onLost: (error: Error) => void, signal: AbortSignal): Promise<void> {
    const client = await makeSubscriberClient();
    this.#client = client;
    try {
      await this.#pull(client, onLost, AbortSignal.any([signal, this.#ending.signal]));
    } catch (error) {
      await close(client);
      throw error;
    }
  }

  async #pull(client: SubscriberClient, onLost: (error: Error) => void, signal: AbortSignal): Promise<void> {
    const request: PullRequest = {
      subscription: this.#subscription,
      streamAckDeadlineSeconds: LEASE_S,
      maxOutstandingMessages: CAPACITY,
      maxOutstandingBytes: CAPACITY_BYTES,
    };
    const startedAt = performance.now();
    const ending = Promise.withResolvers<void>();
    this.#ended = ending;
    const ended = (error: Error | null) => {
      ending.resolve();
      if (this.#isStopping) return;
      const loss = error ?? new Error('the server has ended the stream');
      if (performance.now() - startedAt < LASTED_MS) onLost(loss);
      else this.#pull(client, onLost, signal).catch(onLost);
    };
    this.#stream = await openPull(client, request, { receive: this.#receive, ended }, signal);
  }

  acknowledge(ackIds: string[]): Promise<unknown> {
    return this.#client!.acknowledge({ subscription: this.#subscription, ackIds }, { timeout: SETTLE_MS, retry: null });
  }

  modifyAckDeadline(ackIds: string[], ackDeadlineSeconds: number): Promise<unknown> {
    const request = { subscription: this.#subscription, ackIds, ackDeadlineSeconds };
    return this.#client!.modifyAckDeadline(request, { timeout: SETTLE_MS, retry: null });
  }

  /** Stops receiving messages. Those already received can still be acknowledged or returned. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#stream?.end();
    await Promise.race([this.#ended.promise, pause(GOODBYE_MS, undefined, { ref: false })]);
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    this.#ending.abort();
    this.#stream?.cancel();
    if (this.#client) await close(this.#client);
  }
}
