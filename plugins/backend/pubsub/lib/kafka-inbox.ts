import type { Call, Log } from '#contract';
import { Inbox } from '../../../clients/broker/inbox.ts';
import type { Delivery, Subscriber } from '../../../clients/broker/message.ts';
import { Room } from '../../../clients/broker/room.ts';
import { KafkaConsumer, type KafkaDelivery, type Reading } from '../../../clients/kafka/consumer/consumer.ts';
import type { KafkaSettings } from '../../../clients/kafka/settings.ts';

/** Prefetches records, and passes them to requests. */
export class KafkaSubscriber implements Subscriber {
  readonly #consumer: KafkaConsumer;
  readonly #inbox: Inbox<KafkaDelivery>;
  readonly #room: Room;
  #wasConnected = false;
  #log: Log | null = null;
  #discarded = (_count: number) => {};

  constructor(settings: KafkaSettings, reading: Reading) {
    const room = new Room(settings.bufferSize);
    const inbox = new Inbox<KafkaDelivery>((delivery) => {
      room.leave(delivery);
      if (room.isHalfEmpty) this.#consumer.resume();
    });
    this.#inbox = inbox;
    this.#room = room;
    this.#consumer = new KafkaConsumer(settings, reading, {
      receive(delivery) {
        if (inbox.waiting === 0) room.enter(delivery);
        inbox.put(delivery);
        return !room.isFull;
      },
      unreadable: (where, why, count) => {
        this.#log?.error(`records of ${where} cannot be read and are discarded: ${why}`);
        this.#discarded(count);
      },
      forget() {
        const forgotten = inbox.empty();
        for (const delivery of forgotten) room.leave(delivery);
        return forgotten;
      },
    });
  }

  /** @param discarded counts unreadable records. */
  open(log: Log, discarded: (count?: number) => void): void {
    this.#log = log;
    this.#discarded = discarded;
    this.#consumer.open(log);
  }

  /** Takes the next record. If the brokers were lost, waits for the client to reconnect. */
  async next(call: Call): Promise<Delivery> {
    if (!this.#wasConnected) await this.#consumer.link.current(call);
    this.#wasConnected = true;
    return this.#inbox.take(call);
  }

  putBack(delivery: Delivery): void {
    if (this.#inbox.waiting === 0) this.#room.enter(delivery as KafkaDelivery);
    this.#inbox.putBack(delivery as KafkaDelivery);
  }

  close(): Promise<void> {
    return this.#consumer.close();
  }
}
