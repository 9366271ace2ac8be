import type { Channel } from 'amqplib';
import type { Call } from '#contract';
import { Inbox } from '../broker/inbox.ts';
import { AmqpError, NOT_CONNECTED } from './amqp-error.ts';
import { type Delivery, type SubscriptionOptions, subscribe } from './subscription.ts';

/** Messages of a queue, taken by requests. */
export interface Mailbox {
  /** Takes the next message. @throws the call's abort reason if the call ends before a message arrives; AmqpError if the channel ends. */
  take(call: Call): Delivery | Promise<Delivery>;
  /** Hands a message to the next request, because the request that took it could not use it. */
  putBack(delivery: Delivery): void;
  /** Returns messages that no request has taken to the broker. */
  close(): Promise<void>;
}

/**
 * Consumes a queue and keeps its messages until requests take them. Keeps at most the prefetch count or, for messages
 * that are acknowledged on delivery, slightly more than 1000.
 */
export async function openMailbox(
  channel: Channel,
  options: SubscriptionOptions,
  lost: (error: Error) => void,
): Promise<Mailbox> {
  const inbox = new Inbox<Delivery>();
  const requeue = (delivery: Delivery | undefined) => delivery?.nack(true);
  const subscription = await subscribe(channel, options, (delivery) => requeue(inbox.put(delivery)), lost);
  const end = () => inbox.close(new AmqpError(NOT_CONNECTED));
  // The inbox is closed with its channel, because the broker redelivers the messages of a closed channel.
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
