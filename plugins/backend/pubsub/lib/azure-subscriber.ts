import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceBusReceivedMessage } from '@azure/service-bus';
import type { Call, DeniedAddresses, Log } from '#contract';
import { Inbox } from '../../../clients/broker/inbox.ts';
import { KeptLink, reasonOf } from '../../../clients/broker/kept-link.ts';
import type { Delivery, Subscriber } from '../../../clients/broker/message.ts';
import { openReceiver, type ReceiverLink } from './azure-client.ts';

/** Maximum number of messages waiting for a request. The server delivers no more than that. */
const CAPACITY = 100;
/** Timeouts for stopping delivery, and for acknowledging or returning messages, in milliseconds. */
const STOP_MS = 2000;
const SETTLE_MS = 5000;
/** Interval at which the locks of waiting messages are renewed, in milliseconds. Azure locks last at least 5 seconds, usually 60. */
const RENEWAL_MS = 15_000;

interface HeldMessage {
  readonly message: ServiceBusReceivedMessage;
  /** Frees the message's place, so that the server can deliver another one. */
  readonly release: () => void;
}

/** Receives locked messages of a subscription, and passes them to requests. */
export class AzureSubscriber implements Subscriber {
  readonly #inbox = new Inbox();
  /** Messages waiting for a request. */
  readonly #held = new Map<Delivery, HeldMessage>();
  readonly #kept: KeptLink<ReceiverLink>;
  /** Pending acknowledgements and returns of messages. */
  readonly #settling = new Set<Promise<void>>();
  /** Resolves when the connection over which the waiting messages arrived is lost. */
  #forgotten = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;
  #log: Log | null = null;
  #isStopped = false;

  constructor(
    connection: string,
    topic: string,
    subscription: string,
    denied: DeniedAddresses,
    renewalMs: number = RENEWAL_MS,
  ) {
    this.#timer = setInterval(() => this.#renew(), renewalMs).unref();
    this.#kept = new KeptLink({
      name: `Service Bus, ${topic}, ${subscription}`,
      connect: (onLost, signal) => {
        this.#forget();
        const handlers = {
          receive: (message: ServiceBusReceivedMessage) => this.#receive(message),
          forget: () => this.#forget(),
        };
        const lost = (error: Error) => {
          this.#forget();
          onLost(error);
        };
        return openReceiver(connection, { topic, subscription, room: CAPACITY }, handlers, denied, lost, signal);
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
      if (this.#held.has(delivery)) return delivery;
    }
  }

  putBack(delivery: Delivery): void {
    this.#inbox.putBack(delivery);
  }

  /** Returns messages that no request has taken. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const link = this.#kept.opened;
    if (link) await Promise.race([link.stop().catch(() => {}), pause(STOP_MS, undefined, { ref: false })]);
    // Waits until delivery has stopped, because messages returned before that would be redelivered to this link.
    this.#isStopped = true;
    for (const { giveBack } of this.#inbox.empty()) giveBack?.();
    await Promise.race([Promise.all(this.#settling), pause(SETTLE_MS, undefined, { ref: false })]);
    this.#forget();
    await this.#kept.close();
  }

  #receive(message: ServiceBusReceivedMessage): Promise<void> {
    const { promise: settled, resolve } = Promise.withResolvers<void>();
    const settle = (what: 'completeMessage' | 'abandonMessage') => {
      const link = this.#kept.opened;
      resolve();
      const isHeld = this.#held.delete(delivery);
      const gone = () => Promise.reject(new Error('its connection was closed'));
      this.#settle(isHeld && link ? link.receiver[what](message) : gone());
    };
    const delivery: Delivery = {
      payload: payloadOf(message.body),
      headers: Object.entries(message.applicationProperties ?? {}).map(([name, value]) => [name, String(value)]),
      accept: () => settle('completeMessage'),
      giveBack: () => settle('abandonMessage'),
    };
    this.#held.set(delivery, { message, release: resolve });
    if (this.#isStopped) delivery.giveBack!();
    else this.#inbox.put(delivery);
    return Promise.race([settled, this.#forgotten.promise]);
  }

  /** Acknowledges or returns a message in the background, without delaying the request. If that fails, the message is redelivered once its lock has expired. */
  #settle(settlement: Promise<void>): void {
    const settled = settlement
      .catch((error) => {
        this.#log?.warning(
          `a message could not be acknowledged or returned and will be redelivered: ${reasonOf(error)}`,
        );
      })
      .finally(() => this.#settling.delete(settled));
    this.#settling.add(settled);
  }

  #renew(): void {
    const receiver = this.#kept.opened?.receiver;
    if (!receiver) return;
    for (const [delivery, { message, release }] of this.#held) {
      receiver.renewMessageLock(message).catch(() => {
        if (!this.#held.delete(delivery)) return;
        this.#inbox.retain((one) => one !== delivery);
        release();
      });
    }
  }

  #forget(): void {
    this.#held.clear();
    this.#inbox.empty();
    this.#forgotten.resolve();
    this.#forgotten = Promise.withResolvers();
  }
}

/** Returns bytes unchanged, and converts AMQP values of other clients to text. */
function payloadOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  if (body === undefined || body === null) return new Uint8Array();
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
