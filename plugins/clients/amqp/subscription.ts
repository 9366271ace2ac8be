import { setTimeout as pause } from 'node:timers/promises';
import type { Channel, ConsumeMessage } from 'amqplib';
import type { Log } from '#contract';
import { tooLong } from './message-limit.ts';

/** A message delivered by a queue. Exactly one of its functions is called, once. */
export interface Delivery {
  readonly content: Buffer;
  /** The `content_type` of the message; undefined if not set. */
  readonly contentType: string | undefined;
  readonly isRedelivered: boolean;
  /** Acknowledges the message. */
  ack(): void;
  /** Rejects the message. @param requeue false to drop it, or to dead-letter it if the queue is configured to. */
  nack(requeue: boolean): void;
}

/** Options of a consumer. */
export interface SubscriptionOptions {
  readonly queue: string;
  readonly isExclusive: boolean;
  /** Marks a queue that is deleted with its last consumer. Its consumer is therefore never paused: with `autoAck` excess messages are dropped. */
  readonly isAutoDelete: boolean;
  /** Whether the broker considers a message acknowledged as soon as it is sent, so that explicit acknowledgements make no difference. */
  readonly autoAck: boolean;
  /** Prefetch count: maximum number of delivered messages that are neither acknowledged nor rejected yet; 0 for the capacity of the gateway. */
  readonly prefetch: number;
  readonly log: Log;
  /** Called for each message that is dropped unread. */
  readonly discarded?: () => void;
}

/** Maximum number of messages that are neither acknowledged nor rejected yet, if the configuration sets no prefetch count. */
const ROOM = 1000;

/**
 * Numbers of unprocessed messages at which delivery pauses when the broker ignores acknowledgements, and at which it
 * resumes; the limits in bytes apply to all messages.
 */
const FULL = ROOM;
const LOW = 100;
const FULL_BYTES = 64 * 1024 * 1024;
const LOW_BYTES = 16 * 1024 * 1024;

/** Longest wait for the broker to cancel a consumer, in milliseconds. */
const CANCEL_MS = 1000;

/** An open consumer of a queue. */
export interface Subscription {
  /** Stops delivery; messages already delivered can still be acknowledged or rejected. */
  cancel(): Promise<void>;
}

/**
 * Consumes a queue. A message longer than 64 MiB is dropped, or dead-lettered, and logged. Messages that must be
 * acknowledged are held up to 64 MiB plus one message: the rest is returned to the broker, which delivers fewer at a
 * time from then on.
 * @param lost called when the broker cancels the consumer, for example when the queue is deleted.
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
    if (!message) return lost(new Error(`the broker has canceled the consumer of "${queue}"`));
    const length = tooLong(message);
    if (noAck && options.isAutoDelete && held >= FULL) return options.discarded?.();
    const bytes = message.content.length;
    const delivery = deliveryOf(channel, message, noAck, () => release(bytes));
    const isTooMuch = !noAck && isHeldBack && heldBytes > FULL_BYTES;
    hold(bytes);
    if (isTooMuch) return delivery.nack(true);
    if (length === undefined) return take(delivery);
    log.error(`[AMQP] a message of ${length} bytes in "${queue}" is too long and was discarded`);
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
  /** Changes of the consumer run one after another. If the broker does not respond, the channel detects it. */
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

/** @param noAck whether the broker expects no acknowledgement. @param release called once the message is acknowledged or rejected. */
function deliveryOf(channel: Channel, message: ConsumeMessage, noAck: boolean, release: () => void): Delivery {
  const { content, properties, fields } = message;
  const say = (what: () => void) => {
    release();
    try {
      if (!noAck) what();
    } catch {
      // The channel is gone, and the broker will redeliver the message.
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
