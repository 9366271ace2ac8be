import type { ConfirmChannel, Message, Options } from 'amqplib';
import type { Call } from '#contract';
import { AmqpError, reasonOf } from './amqp-error.ts';
import type { AmqpLink } from './link.ts';

/** Limits of messages, and of their bytes, that await confirmation on a channel; one more fails immediately. */
const MAX_PENDING = 10_000;
const MAX_PENDING_BYTES = 64 * 1024 * 1024;

/** A message to publish. */
export interface OutgoingMessage {
  readonly routingKey: string;
  readonly content: Uint8Array;
  readonly properties: Options.Publish;
}

interface Pending {
  readonly routingKey: string;
  readonly content: Buffer;
  isReturned: boolean;
}

/**
 * Publishes to one exchange over a channel in confirm mode. A message is complete when the broker has confirmed it: it
 * is in every queue it was routed to or, with `mandatory`, in at least one.
 */
export class Publisher {
  readonly #channel: ConfirmChannel;
  readonly #link: AmqpLink;
  readonly #exchange: string;
  readonly #isMandatory: boolean;
  /** Messages that await confirmation, in the order in which they were sent. */
  readonly #pending = new Set<Pending>();
  #bytes = 0;
  /** Number of messages sent on the channel, which is the delivery tag of the last one. */
  #sent = 0;

  constructor(channel: ConfirmChannel, link: AmqpLink, exchange: string, isMandatory: boolean) {
    this.#channel = channel;
    this.#link = link;
    this.#exchange = exchange;
    this.#isMandatory = isMandatory;
    channel.on('return', (message) => this.#markReturned(message));
    // Prepended, because the library's own listener would allocate and search a list as long as the tag.
    for (const event of ['ack', 'nack']) channel.prependListener(event, (fields) => this.#checkTag(fields));
  }

  /** @throws AmqpError with the reason of the broker or the library; the call's abort reason if the call ends first. */
  publish({ routingKey, content, properties }: OutgoingMessage, call: Call): Promise<void> {
    const blocked = this.#link.blocked;
    if (blocked !== null) throw new AmqpError(`the broker accepts no messages: ${blocked}`);
    if (this.#pending.size >= MAX_PENDING || this.#bytes + content.length > MAX_PENDING_BYTES) {
      throw new AmqpError(`the broker has not confirmed ${this.#pending.size} messages`);
    }
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    const pending: Pending = { routingKey, content: bytes, isReturned: false };
    const options = { ...properties, mandatory: this.#isMandatory };
    return new Promise((resolve, reject) => {
      const onConfirm = (error: unknown) => {
        cancellation.off();
        this.#pending.delete(pending);
        this.#bytes -= bytes.length;
        if (error) reject(new AmqpError(reasonOf(error), error));
        else if (pending.isReturned) reject(new AmqpError(`no queue is bound with this routing key`));
        else resolve();
      };
      try {
        this.#channel.publish(this.#exchange, routingKey, bytes, options, onConfirm);
      } catch (error) {
        throw new AmqpError(`the message cannot be sent: ${reasonOf(error)}`, error);
      }
      this.#sent += 1;
      this.#pending.add(pending);
      this.#bytes += bytes.length;
      const cancellation = call.onCancel(reject);
    });
  }

  /** @throws Error for the tag of a message that was never sent, upon which the library closes the connection. */
  #checkTag({ deliveryTag }: { readonly deliveryTag: number }): void {
    if (deliveryTag > this.#sent)
      throw new AmqpError(`the broker confirmed unknown delivery tag ${deliveryTag}; messages sent: ${this.#sent}`);
  }

  /**
   * The broker returns a message before it confirms it, without identifying it. Identical messages have the same
   * outcome, so the first match is correct.
   */
  #markReturned({ fields: { routingKey }, content }: Message): void {
    for (const pending of this.#pending) {
      if (pending.isReturned || pending.routingKey !== routingKey || !pending.content.equals(content)) continue;
      pending.isReturned = true;
      return;
    }
  }
}
