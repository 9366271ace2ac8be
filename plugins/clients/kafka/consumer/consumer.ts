import type { Consumer, Message as KafkaRecord, MessagesStream } from '@platformatic/kafka';
import type { Log } from '#contract';
import { KeptLink, type Link } from '../../broker/kept-link.ts';
import type { Delivery } from '../../broker/message.ts';
import { OwnSockets } from '../../broker/own-sockets.ts';
import { clientOptions, KafkaProblems, loadKafka } from '../client.ts';
import { Unreadable } from '../record-sets.ts';
import type { GroupSettings, KafkaSettings } from '../settings.ts';
import { rangeAssigner } from './assigner.ts';
import { Commits } from './commits.ts';
import { Positions } from './positions.ts';

type Record = KafkaRecord<Buffer, Buffer, Buffer, Buffer>;
type Client = Consumer<Buffer, Buffer, Buffer, Buffer>;
type Stream = MessagesStream<Buffer, Buffer, Buffer, Buffer>;

/** Receiver of records. */
export interface Receiver {
  /** Receives a record. @returns false if the buffer is full: `resume` then requests more records. */
  receive(delivery: KafkaDelivery): boolean;
  /** Reports records that cannot be read and are discarded. @param where such as `orders:0 from 17 to 20`. */
  unreadable(where: string, why: string, count: number): void;
  /** Drops received records whose processing has not started: they will be redelivered. @returns the dropped records. */
  forget(): readonly KafkaDelivery[];
}

/** A record; once accepted, the group need not read it again. It cannot be returned to the broker. */
export interface KafkaDelivery extends Delivery {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** Topics and group that a consumer reads with. */
export interface Reading {
  readonly topics: readonly string[];
  readonly group: GroupSettings;
}

/** Longest wait for a client that leaves its group, in milliseconds. */
const GOODBYE_MS = 3000;
/** Time for which a broker holds a fetch request without records, in milliseconds. */
const POLL_MS = 1000;

/** A group member that reads topics, and rejoins whenever it has lost the brokers. */
export class KafkaConsumer {
  readonly #kept: KeptLink<Membership>;
  readonly #receiver: Receiver;

  constructor(settings: KafkaSettings, reading: Reading, receiver: Receiver) {
    this.#receiver = receiver;
    const progress = newProgress();
    const problems = new KafkaProblems();
    this.#kept = new KeptLink({
      name: `Kafka at ${settings.brokers.join(', ')}, group "${reading.group.id}"`,
      reasonOf: (error) => problems.reasonOf(error),
      connect: async (onLost, signal) => {
        for (const delivery of receiver.forget()) giveBack(progress, delivery);
        const membership = new Membership(settings, reading, progress, receiver, problems);
        await membership.open(onLost, signal);
        return membership;
      },
    });
  }

  open(log: Log): void {
    this.#kept.open(log);
  }

  /** Commits the offsets of processed records, and leaves the group. */
  async close(): Promise<void> {
    await this.#kept.close();
    this.#receiver.forget();
  }

  get link(): KeptLink<Link> {
    return this.#kept;
  }

  /** Resumes reading once the buffer has room again. */
  resume(): void {
    this.#kept.opened?.resume();
  }
}

/** Reading progress, kept across memberships. */
export interface Progress {
  readonly positions: Positions;
  readonly commits: Commits;
}

export function newProgress(): Progress {
  return { positions: new Positions(), commits: new Commits() };
}

/** Marks a record, and all later records of its partition, as not processed, so that they are redelivered. */
export function giveBack({ positions }: Progress, { topic, partition, offset }: KafkaDelivery): void {
  positions.giveBack(`${topic}:${partition}`, offset);
}

/** One membership of the group. */
export class Membership implements Link {
  readonly #settings: KafkaSettings;
  readonly #reading: Reading;
  readonly #progress: Progress;
  readonly #receiver: Receiver;
  readonly #problems: KafkaProblems;
  readonly #sockets: OwnSockets;
  #client: Client | null = null;
  #stream: Stream | null = null;
  #isClosing = false;
  #isStopped = false;

  constructor(
    settings: KafkaSettings,
    reading: Reading,
    progress: Progress,
    receiver: Receiver,
    problems: KafkaProblems,
  ) {
    this.#settings = settings;
    this.#reading = reading;
    this.#progress = progress;
    this.#receiver = receiver;
    this.#problems = problems;
    this.#sockets = new OwnSockets(settings.denied, settings.keepAliveMs);
  }

  /** Joins the group. @param onLost called once if the membership ends on its own. @throws Error with the reason. */
  async open(onLost: (error: Error) => void, signal: AbortSignal): Promise<void> {
    const { connectMs, responseMs, brokers } = this.#settings;
    const { rebalanceMs } = this.#reading.group;
    const broken = new AbortController();
    const lost = (error: Error) => {
      if (this.#isClosing) return;
      this.#isClosing = true;
      broken.abort(error);
      onLost(error);
    };
    try {
      // The time limit is longer here, because a group assigns its partitions only once all members have joined.
      const longestMs = connectMs * brokers.length + responseMs + rebalanceMs;
      await this.#sockets.connect(longestMs, AbortSignal.any([signal, broken.signal]), () => this.#join(lost));
    } catch (error) {
      await this.close();
      throw broken.signal.reason ?? error;
    }
  }

  resume(): void {
    if (!this.#isClosing && !this.#isStopped) this.#stream?.resume();
  }

  /** Stops receiving; received records can still be marked as processed. */
  stop(): void {
    this.#isStopped = true;
    this.#stream?.pause();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    const client = this.#client;
    this.#stream?.pause();
    await this.#sockets.end(GOODBYE_MS, async () => {
      if (!client) return;
      await this.#progress.commits.finish(client);
      await client.close(true);
    });
  }

  async #join(lost: (error: Error) => void): Promise<void> {
    const kafka = await loadKafka();
    const { group, topics } = this.#reading;
    const isRange = group.strategy === 'range';
    const client: Client = new kafka.Consumer({
      ...clientOptions(this.#settings),
      groupId: group.id,
      ...(group.instanceId !== undefined && { groupInstanceId: group.instanceId }),
      sessionTimeout: group.sessionMs,
      heartbeatInterval: group.heartbeatMs,
      heartbeatStallTimeout: group.sessionMs,
      rebalanceTimeout: group.rebalanceMs,
      protocols: [{ name: group.strategy, version: 1 }],
      ...(isRange && { partitionAssigner: rangeAssigner }),
      autocommit: false,
      minBytes: 1,
      maxBytes: group.fetchBytes,
      maxBytesPerPartition: group.fetchBytes,
      maxWaitTime: POLL_MS,
      isolationLevel: group.readsUncommitted
        ? kafka.FetchIsolationLevels.READ_UNCOMMITTED
        : kafka.FetchIsolationLevels.READ_COMMITTED,
      highWaterMark: this.#settings.bufferSize,
    });
    this.#client = client;
    this.#problems.follow(client.connections, group.fetchBytes, lost);
    // The library emits this error if the member cannot rejoin during a rebalance; it does not retry.
    client.on('error', lost);
    client.on('consumer:heartbeat:stalled', ({ lastError }) => {
      const why = lastError ? `: ${this.#problems.reasonOf(lastError)}` : '';
      lost(new Error(`heartbeats fail${why}`));
    });
    // Brokers that cannot be reached are reported immediately, because this request is not retried.
    await client.metadata({ topics: [], retries: 0 });
    const stream: Stream = await client.consume({
      topics: [...topics],
      mode: kafka.MessagesStreamModes.COMMITTED,
      fallbackMode: group.from === 'oldest' ? 'earliest' : 'latest',
    });
    this.#problems.follow(stream.connections, group.fetchBytes, lost);
    this.#stream = stream;
    stream.on('error', lost);
    stream.on('close', () => lost(new Error('the consumer has ended')));
    const { positions, commits } = this.#progress;
    const begin = () => {
      const assignments = client.assignments ?? [];
      const own = new Set(assignments.flatMap(({ topic, partitions }) => partitions.map((one) => `${topic}:${one}`)));
      positions.keepOnly((partition) => own.has(partition));
      void commits.begin(client, assignments, stream.offsetsToFetch);
    };
    stream.on('offsets', begin);
    begin();
    stream.on('data', (record) => this.#take(record));
  }

  #take({ topic, partition, offset, timestamp, key, value, headerEntries }: Record): void {
    if (this.#isClosing || this.#isStopped) return;
    const { positions, commits } = this.#progress;
    const place = `${topic}:${partition}`;
    if (!positions.take(place, offset, timestamp)) return;
    const accept = () => {
      const upTo = positions.done(place, offset);
      if (upTo !== undefined) commits.commit(topic, partition, upTo);
    };
    const unreadable: unknown = headerEntries[0]?.[0];
    if (unreadable instanceof Unreadable) {
      const { firstOffset, why, count } = unreadable;
      this.#receiver.unreadable(`${place} from ${firstOffset} to ${offset}`, why, count);
      return accept();
    }
    const hasRoom = this.#receiver.receive({
      topic,
      partition,
      offset,
      payload: value ?? nothing,
      headers: headerEntries.map(([name, text]): [string, string] => [String(name ?? ''), String(text ?? '')]),
      key: key ? String(key) : undefined,
      accept,
    });
    if (!hasRoom) this.#stream?.pause();
  }
}

const nothing = Buffer.alloc(0);
