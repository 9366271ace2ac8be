import { randomUUID } from 'node:crypto';
import type { Call, Log } from '#contract';
import { Inbox } from '../../../clients/broker/inbox.ts';
import { keyOf } from '../../../clients/broker/key-of.ts';
import type { Delivery, Subscriber } from '../../../clients/broker/message.ts';
import { Room } from '../../../clients/broker/room.ts';
import { parseServers, subjectProblem } from '../../../clients/nats/address.ts';
import { NatsConnection } from '../../../clients/nats/connection.ts';
import { nameServers } from '../../../clients/nats/tls.ts';
import { prepareSharedTls, standardTls } from '../../../clients/tls/client-tls.ts';
import { onlyParams, paramOf } from './address.ts';
import { BadVariable, type Driver, type Opening } from './driver.ts';

/** Maximum number of messages waiting for a request, with at most 64 MiB in total. The oldest is dropped to make room for another one. */
const CAPACITY = 100;

/** NATS without storage: messages reach only current subscribers. */
export const nats: Driver = {
  name: 'NATS',
  variable: 'NATS_SERVER_URL',
  publisher(opening) {
    const subject = subjectOf(opening, false);
    onlyParams(opening.site, opening.field, opening.address, []);
    return (said) => {
      const { connection } = keepConnection(opening, said);
      return { send: (message, call) => connection.publish(subject, message, call) };
    };
  },
  subscriber(opening) {
    const { site, field, address, log, discarded } = opening;
    const subject = subjectOf(opening, true);
    onlyParams(site, field, address, ['queue']);
    const queue = paramOf(site, field, address, 'queue');
    return (said) => {
      const { connection, key } = keepConnection(opening, said);
      // The workers of a gateway share one queue group, so that each message reaches only one of them.
      const { value: listener } = site.mirror<{ id: string }, string>('listener', {
        open: () => ({ id: randomUUID() }),
        apply: (value, id) => {
          value.id = id;
        },
        snapshot: ({ id }) => id,
      });
      const subscriber = site.keep(
        { ...key, subject, queue: queue ?? null },
        () => new NatsSubscriber(connection, subject),
        (kept) => kept.close(),
      );
      const open = () => subscriber.open(queue ?? (site.role === 'worker' ? listener.id : undefined), log, discarded);
      site.start(open, { in: 'each' });
      return subscriber;
    };
  },
};

/** @throws ConfigError PUBSUB_ADDRESS */
function subjectOf({ site, field, address }: Opening, hasWildcards: boolean): string {
  const subject = address.place;
  const problem = subjectProblem(subject, hasWildcards);
  if (problem) throw site.fault('PUBSUB_ADDRESS', `/${field}`, `"${address.text}": ${problem}`);
  return subject;
}

/** @throws BadVariable */
function keepConnection({ site, field }: Opening, said: string) {
  const servers = parseServers(said);
  if (!servers) throw new BadVariable('NATS_SERVER_URL contains no address');
  const config = site.setting('client_tls');
  const prepared = config && servers.needsTls ? prepareSharedTls(site, config) : undefined;
  const tls = prepared?.client ?? standardTls();
  nameServers(site, { ...servers, tls }, `/${field}`);
  const key = { server: keyOf(said), tls: prepared?.fingerprint ?? '' };
  const connection = site.keep(
    key,
    () => new NatsConnection({ ...servers, tls, denied: site.use('denied') }, `NATS at ${servers.servers.join(', ')}`),
    (kept) => kept.close(),
  );
  site.start(() => connection.open(site.use('log').at('[PubSub]')), { in: 'each' });
  return { connection, key };
}

/** Subscribes to a subject, and holds messages until a request takes them. */
class NatsSubscriber implements Subscriber {
  readonly #connection: NatsConnection;
  readonly #subject: string;
  readonly #room = new Room(CAPACITY);
  readonly #inbox = new Inbox((delivery) => this.#room.leave(delivery));
  #log: Log | null = null;
  #stop: (() => void) | null = null;
  #dropped = 0;
  #discarded = () => {};

  constructor(connection: NatsConnection, subject: string) {
    this.#connection = connection;
    this.#subject = subject;
  }

  open(queue: string | undefined, log: Log, discarded: () => void): void {
    this.#log = log;
    this.#discarded = discarded;
    this.#stop ??= this.#connection.subscribe({
      subject: this.#subject,
      queue,
      receive: ({ data, headers }) => {
        const pairs = [...(headers ?? [])].flatMap(([name, values]) =>
          values.map((value): [string, string] => [name, value]),
        );
        this.#put({ payload: data, headers: pairs, accept() {} });
      },
      refused: (error) => {
        this.#log?.error(`the server rejects the subscription: ${error.message}`);
      },
    });
  }

  async next(call: Call): Promise<Delivery> {
    if (this.#inbox.size === 0) await this.#connection.ready(call);
    return this.#inbox.take(call);
  }

  putBack(delivery: Delivery): void {
    if (this.#inbox.waiting === 0) this.#room.enter(delivery);
    this.#inbox.putBack(delivery);
  }

  close(): void {
    this.#stop?.();
    this.#stop = null;
    this.#inbox.empty();
  }

  #put(delivery: Delivery): void {
    if (this.#inbox.waiting === 0) {
      while (this.#room.isFull) this.#drop(this.#inbox.dropOldest()!);
      this.#room.enter(delivery);
    }
    this.#inbox.put(delivery);
  }

  #drop(oldest: Delivery): void {
    this.#room.leave(oldest);
    this.#dropped++;
    this.#discarded();
    if (Math.log10(this.#dropped) % 1 === 0) {
      this.#log?.warning(
        `${this.#dropped} messages dropped: more than ${CAPACITY} messages, or 64 MiB, are waiting for requests`,
      );
    }
  }
}
