import type { Channel } from 'amqplib';
import type { Call } from '#contract';
import { Inbox } from '../broker/inbox.ts';
import { type Delivery, type SubscriptionOptions, subscribe } from './subscription.ts';
import { AmqpTrouble, NOT_CONNECTED } from './trouble.ts';

/** Messages of a queue, for requests to take. */
export interface Mailbox {
  /** The next message. @throws the reason of the call when that ends before there is one; AmqpTrouble when the channel does. */
  take(call: Call): Delivery | Promise<Delivery>;
  /** Gives a message to the next request: who has taken it could not use it. */
  putBack(delivery: Delivery): void;
  /** Gives back what nobody has taken. */
  close(): Promise<void>;
}

/**
 * Consumes a queue and keeps its messages until requests take them. At most as many are kept as are prefetched or, where they
 * are done on delivery, some more than 1000.
 */
export async function openMailbox(
  channel: Channel,
  options: SubscriptionOptions,
  lost: (error: Error) => void,
): Promise<Mailbox> {
  const inbox = new Inbox<Delivery>();
  const requeue = (delivery: Delivery | undefined) => delivery?.nack(true);
  const subscription = await subscribe(channel, options, (delivery) => requeue(inbox.put(delivery)), lost);
  const end = () => inbox.close(new AmqpTrouble(NOT_CONNECTED));
  // The broker hands over again what a channel held that is gone.
  channel.once('close', end);
  return {
    take: (call) => inbox.take(call),
    putBack: (delivery) => requeue(inbox.putBack(delivery)),
    async close() {
      const left = end();
      await subscription.cancel();
      for (const delivery of left) requeue(delivery);
    },
  };
}
