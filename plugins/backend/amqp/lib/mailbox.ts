import type { Channel } from 'amqplib';
import type { Call } from '#contract';
import { type Delivery, type SubscriptionOptions, subscribe } from '../../../services/amqp/subscription.ts';
import { AmqpTrouble, NOT_CONNECTED } from '../../../services/amqp/trouble.ts';

/** Messages of a queue, for requests to take. */
export interface Mailbox {
  /** The next message. @throws the reason of the call when that ends before there is one; AmqpTrouble when the channel does. */
  take(call: Call): Promise<Delivery>;
  /** Gives a message to the next request: who has taken it could not use it. */
  putBack(delivery: Delivery): void;
  /** Gives back what nobody has taken. */
  close(): Promise<void>;
}

interface Waiting {
  readonly give: (delivery: Delivery) => void;
  readonly fail: (error: Error) => void;
}

/**
 * Consumes a queue and holds its messages, in order, until requests take them, the longest waiting first. At most as many are
 * held as are prefetched or, where they are done on delivery, some more than 1000.
 */
export async function openMailbox(
  channel: Channel,
  options: SubscriptionOptions,
  lost: (error: Error) => void,
): Promise<Mailbox> {
  const held: Delivery[] = [];
  const waiting = new Set<Waiting>();
  let isClosed = false;
  const hold = (delivery: Delivery, put: (delivery: Delivery) => void): void => {
    const [first] = waiting;
    if (isClosed) delivery.nack(true);
    else if (first) {
      waiting.delete(first);
      first.give(delivery);
    } else put(delivery);
  };
  const subscription = await subscribe(channel, options, (delivery) => hold(delivery, (each) => held.push(each)), lost);
  const end = () => {
    isClosed = true;
    for (const { fail } of waiting) fail(new AmqpTrouble(NOT_CONNECTED));
    waiting.clear();
  };
  // The broker hands over again what a channel held that is gone.
  channel.once('close', end);
  return {
    take(call) {
      if (isClosed) return Promise.reject(new AmqpTrouble(NOT_CONNECTED));
      const next = call.reason ? undefined : held.shift();
      if (next) return Promise.resolve(next);
      return new Promise((resolve, reject) => {
        const one: Waiting = {
          give(delivery) {
            cancellation.off();
            resolve(delivery);
          },
          fail(error) {
            cancellation.off();
            reject(error);
          },
        };
        waiting.add(one);
        const cancellation = call.onCancel((reason) => {
          waiting.delete(one);
          reject(reason);
        });
      });
    },
    putBack: (delivery) => hold(delivery, (each) => held.unshift(each)),
    async close() {
      end();
      await subscription.cancel();
      for (const delivery of held.splice(0)) delivery.nack(true);
    },
  };
}
