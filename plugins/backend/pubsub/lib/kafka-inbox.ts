import type { Call, Log } from '#contract';
import { Inbox } from '../../../services/broker/inbox.ts';
import type { Delivery, Subscriber } from '../../../services/broker/message.ts';
import { KafkaConsumer, type KafkaDelivery, type Reading } from '../../../services/kafka/consumer.ts';
import type { KafkaSettings } from '../../../services/kafka/settings.ts';

/** Reads records ahead, and hands them to requests. */
export class KafkaSubscriber implements Subscriber {
  readonly #consumer: KafkaConsumer;
  readonly #inbox: Inbox<KafkaDelivery>;
  #wasConnected = false;

  constructor(settings: KafkaSettings, reading: Reading) {
    const inbox = new Inbox<KafkaDelivery>(Number.POSITIVE_INFINITY, () => {
      if (inbox.size <= settings.bufferSize / 2) this.#consumer.resume();
    });
    this.#inbox = inbox;
    this.#consumer = new KafkaConsumer(settings, reading, {
      receive(delivery) {
        inbox.put(delivery);
        return inbox.size < settings.bufferSize;
      },
      forget: () => inbox.empty(),
    });
  }

  open(log: Log): void {
    this.#consumer.open(log);
  }

  /** Where brokers were lost it waits for them: the client comes back by itself. */
  async next(call: Call): Promise<Delivery> {
    if (!this.#wasConnected) await this.#consumer.link.current(call);
    this.#wasConnected = true;
    return this.#inbox.take(call);
  }

  putBack(delivery: Delivery): void {
    this.#inbox.putBack(delivery as KafkaDelivery);
  }

  close(): Promise<void> {
    return this.#consumer.close();
  }
}
