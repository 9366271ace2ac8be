import { setTimeout as pause } from 'node:timers/promises';
import type { Channel, ConsumeMessage } from 'amqplib';
import type { Log } from '#contract';
import { tooLong } from './message-limit.ts';

/** A message that a queue has handed over. Exactly one of its functions is called once. */
export interface Delivery {
  readonly content: Buffer;
  /** The `content_type` of the message; undefined where it has none. */
  readonly contentType: string | undefined;
  readonly isRedelivered: boolean;
  /** It is done. */
  ack(): void;
  /** It cannot be done. @param requeue false to drop it, or to dead-letter it where the queue says so. */
  nack(requeue: boolean): void;
}

/** What is consumed, and how. */
export interface SubscriptionOptions {
  readonly queue: string;
  readonly isExclusive: boolean;
  /** The queue goes with its last consumer, which therefore is never held back: with `autoAck` what is too much is dropped. */
  readonly isAutoDelete: boolean;
  /** A message is done for the broker as soon as it is sent: whether it is acknowledged makes no difference there. */
  readonly autoAck: boolean;
  /** Messages that are handed over and not done; 0 for as many as there is room for. */
  readonly prefetch: number;
  readonly log: Log;
  /** Told of each message that is dropped unread. */
  readonly discarded?: () => void;
}

/** Messages handed over and not done where no configuration says how many. */
const ROOM = 1000;

/**
 * Messages that the broker hands over whatever is done with them are held back from so many on that are not done here, until
 * there are so few; and all messages from so many bytes on.
 */
const FULL = ROOM;
const LOW = 100;
const FULL_BYTES = 64 * 1024 * 1024;
const LOW_BYTES = 16 * 1024 * 1024;

/** Longest wait for the broker to end a consumer, in milliseconds. */
const CANCEL_MS = 1000;

/** An open consumer of a queue. */
export interface Subscription {
  /** The broker hands over no more; what it has handed over can still be done. */
  cancel(): Promise<void>;
}

/**
 * Consumes a queue. A message longer than 64 MiB is dropped, or dead-lettered, and logged. Of messages that are to be done no
 * more than 64 MiB and one message are held: the broker gets others back, and hands over fewer at a time from then on.
 * @param lost called when the broker ends the consumer, as when the queue is deleted.
 */
export async function subscribe(
  channel: Channel,
  options: SubscriptionOptions,
  take: (delivery: Delivery) => void,
  lost: (error: Error) => void,
): Promise<Subscription> {
  const { queue, isExclusive: exclusive, autoAck: noAck, log } = options;
  let prefetch = options.prefetch || ROOM;
  const onMessage = (message: ConsumeMessage | null): void => {
    if (!message) return lost(new Error(`the broker has ended the consumer of "${queue}"`));
    const length = tooLong(message);
    if (noAck && options.isAutoDelete && held >= FULL) return options.discarded?.();
    const bytes = message.content.length;
    const delivery = deliveryOf(channel, message, noAck, () => release(bytes));
    const isTooMuch = !noAck && isHeldBack && heldBytes > FULL_BYTES;
    hold(bytes);
    if (isTooMuch) return delivery.nack(true);
    if (length === undefined) return take(delivery);
    log.error(`[AMQP] a message of ${length} bytes in "${queue}" is too long, and discarded`);
    options.discarded?.();
    delivery.nack(false);
  };
  const begin = async () => {
    if (!noAck) await channel.prefetch(prefetch);
    return channel.consume(queue, onMessage, { exclusive, noAck });
  };
  let consumerTag: string | null = null;
  const resume = async () => {
    consumerTag ??= (await begin()).consumerTag;
  };
  const cancel = async () => {
    if (consumerTag !== null) await channel.cancel(consumerTag);
    consumerTag = null;
  };
  /** One change after another; what the broker does not do is for the channel to notice. */
  let changing = Promise.resolve();
  const change = (next: () => Promise<void>): Promise<void> => {
    const changed = changing.then(next);
    changing = changed.catch(() => {});
    return changed;
  };
  let held = 0;
  let heldBytes = 0;
  let isHeldBack = false;
  let isOver = false;
  const hold = (bytes: number) => {
    held++;
    heldBytes += bytes;
    const isFull = heldBytes > FULL_BYTES || (noAck && held >= FULL);
    if (!isFull || isHeldBack || options.isAutoDelete) return;
    isHeldBack = true;
    prefetch = Math.min(prefetch, held);
    change(cancel).catch(() => {});
  };
  const release = (bytes: number) => {
    held--;
    heldBytes -= bytes;
    const isLow = heldBytes <= LOW_BYTES && (!noAck || held <= LOW);
    if (!isLow || !isHeldBack || isOver) return;
    isHeldBack = false;
    change(resume).catch(() => {});
  };
  await change(resume);
  return {
    cancel() {
      isOver = true;
      return Promise.race([change(cancel).catch(() => {}), pause(CANCEL_MS, undefined, { ref: false })]);
    },
  };
}

/** @param noAck the broker wants to know nothing. @param release called once it is done. */
function deliveryOf(channel: Channel, message: ConsumeMessage, noAck: boolean, release: () => void): Delivery {
  const { content, properties, fields } = message;
  const say = (what: () => void) => {
    release();
    try {
      if (!noAck) what();
    } catch {
      // The channel is gone, and the broker will hand the message over again.
    }
  };
  const type: unknown = properties.contentType;
  return {
    content,
    contentType: typeof type === 'string' && type !== '' ? type : undefined,
    isRedelivered: fields.redelivered,
    ack: () => say(() => channel.ack(message)),
    nack: (requeue) => say(() => channel.nack(message, false, requeue)),
  };
}
