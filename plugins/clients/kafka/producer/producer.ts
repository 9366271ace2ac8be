import type { ProduceOptions, Producer } from '@platformatic/kafka';
import { BackendError, type Call, type Log } from '#contract';
import { during } from '../../../shared/calls/during.ts';
import { KeptLink, type Link } from '../../broker/kept-link.ts';
import type { Message } from '../../broker/message.ts';
import { OwnSockets } from '../../broker/own-sockets.ts';
import { clientOptions, isUnsupported, KafkaProblems, loadKafka } from '../client.ts';
import type { KafkaSettings } from '../settings.ts';
import { type Outcome, writePartitioned } from './partitioned-write.ts';
import { type Partitioner, partitionerOf } from './partitioner.ts';

/** Settings for writing records. */
export interface ProducerSettings {
  /** Limit of the size of one record, and of a batch. */
  readonly maxBytes: number;
  /** Required acknowledgements: 0 for none, 1 for the leader, -1 for all in-sync replicas. */
  readonly acks: 0 | 1 | -1;
  readonly acksMs: number;
  readonly compression: 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd';
  readonly partitioner: Partitioner;
  readonly isIdempotent: boolean;
  readonly retries: number;
  readonly retryMs: number;
}

/** Settings of the `kafka` scheme, and defaults. */
export const standardProducer: ProducerSettings = {
  maxBytes: 1_000_000,
  acks: 1,
  acksMs: 10_000,
  compression: 'none',
  partitioner: 'standard',
  isIdempotent: false,
  retries: 3,
  retryMs: 100,
};

/** Maximum number of records in a batch. */
const MAX_BATCH = 500;
/** Limits of records, and of their bytes, that wait to be written to one topic; one more fails immediately. */
const MAX_WAITING = 10_000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** Largest overhead of a record in addition to its content, in bytes. */
const OVERHEAD_BYTES = 64;
/** Longest wait for a client that closes, in milliseconds. */
const GOODBYE_MS = 2000;

interface ProducerLink extends Link {
  write(topic: string, batch: readonly Message[]): Promise<readonly Outcome[]>;
}

interface Waiting {
  readonly message: Message;
  readonly bytes: number;
  readonly call: Call;
  readonly settle: (error?: unknown) => void;
}

/** Writes records to any topics of a cluster. Records that arrive during a write are batched into the next one. */
export class KafkaProducer {
  readonly #kept: KeptLink<ProducerLink>;
  readonly #maxBytes: number;
  readonly #topics = new Map<string, TopicQueue>();
  readonly #problems = new KafkaProblems();
  #log: Log | null = null;
  #isFailing = false;

  constructor(settings: KafkaSettings, producer: ProducerSettings) {
    this.#maxBytes = producer.maxBytes;
    this.#kept = new KeptLink({
      name: `Kafka at ${settings.brokers.join(', ')}`,
      connect: (onLost, signal) => openProducer(settings, producer, this.#problems, onLost, signal),
      reasonOf: (error) => this.#problems.reasonOf(error),
    });
  }

  open(log: Log): void {
    this.#log = log;
    this.#kept.open(log);
  }

  async close(): Promise<void> {
    await this.#kept.close();
  }

  /** Resolves once the record is acknowledged. @throws BackendError KAFKA_SIZE, KAFKA_FAILED, BROKER_NOT_CONNECTED */
  async send(topic: string, message: Message, call: Call): Promise<void> {
    const bytes = sizeOf(message);
    if (bytes > this.#maxBytes) {
      throw new BackendError('KAFKA_SIZE', `a record of ${bytes} bytes is larger than ${this.#maxBytes}`);
    }
    await this.#kept.current(call);
    let queue = this.#topics.get(topic);
    if (!queue) {
      queue = new TopicQueue((batch) => this.#write(topic, batch), this.#maxBytes);
      this.#topics.set(topic, queue);
    }
    await queue.add(message, bytes, call);
  }

  async #write(topic: string, batch: readonly Message[]): Promise<readonly Outcome[]> {
    const { opened } = this.#kept;
    if (!opened) throw new BackendError('BROKER_NOT_CONNECTED', `${this.#kept.name}: closed`);
    const outcomes = await opened.write(topic, batch).catch((error): Outcome[] => batch.map(() => ({ error })));
    for (const outcome of outcomes) {
      const { error } = outcome;
      if (error === undefined) continue;
      const reason = this.#problems.reasonOf(error);
      if (!this.#isFailing) this.#log?.error(`${this.#kept.name}: topic "${topic}": ${reason}`);
      this.#isFailing = true;
      outcome.error = new BackendError('KAFKA_FAILED', `${this.#kept.name}: ${reason}`, { cause: error });
    }
    if (this.#isFailing && outcomes.every(({ error }) => error === undefined)) {
      this.#log?.info(`${this.#kept.name} accepts records again`);
      this.#isFailing = false;
    }
    return outcomes;
  }
}

/** Queue of records for one topic, written batch by batch. */
export class TopicQueue {
  readonly #write: (batch: readonly Message[]) => Promise<readonly Outcome[]>;
  readonly #maxBytes: number;
  #waiting: Waiting[] = [];
  #bytes = 0;
  #isWriting = false;

  constructor(write: (batch: readonly Message[]) => Promise<readonly Outcome[]>, maxBytes: number) {
    this.#write = write;
    this.#maxBytes = maxBytes;
  }

  add(message: Message, bytes: number, call: Call): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING || this.#bytes + bytes > MAX_WAITING_BYTES) {
      return Promise.reject(new BackendError('KAFKA_SLOW', `${this.#waiting.length} records wait to be written`));
    }
    const written = new Promise<void>((resolve, reject) => {
      const settle = (error?: unknown) => (error === undefined ? resolve() : reject(error));
      this.#waiting.push({ message, bytes, call, settle });
    });
    this.#bytes += bytes;
    if (!this.#isWriting) void this.#run();
    return during(call, written);
  }

  async #run(): Promise<void> {
    this.#isWriting = true;
    // Records from the same turn of the event loop are written together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#next();
      if (batch.length === 0) continue;
      try {
        const outcomes = await this.#write(batch.map(({ message }) => message));
        for (const [at, { settle }] of batch.entries()) settle(outcomes[at]?.error);
      } catch (error) {
        for (const { settle } of batch) settle(error);
      }
    }
    this.#isWriting = false;
  }

  /** Takes the next records that fit in a batch; records of ended calls are skipped. */
  #next(): Waiting[] {
    const batch: Waiting[] = [];
    let bytes = 0;
    let taken = 0;
    for (const waiting of this.#waiting) {
      const isGone = waiting.call.reason !== null;
      if (!isGone && (batch.length >= MAX_BATCH || (batch.length > 0 && bytes + waiting.bytes > this.#maxBytes))) break;
      taken++;
      this.#bytes -= waiting.bytes;
      if (isGone) continue;
      bytes += waiting.bytes;
      batch.push(waiting);
    }
    this.#waiting = this.#waiting.slice(taken);
    return batch;
  }
}

function sizeOf({ payload, headers, key = '' }: Message): number {
  let bytes = payload.length + Buffer.byteLength(key) + OVERHEAD_BYTES;
  for (const [name, value] of headers) bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 8;
  return bytes;
}

async function openProducer(
  settings: KafkaSettings,
  producer: ProducerSettings,
  problems: KafkaProblems,
  onLost: (error: Error) => void,
  signal: AbortSignal,
): Promise<ProducerLink> {
  const kafka = await loadKafka();
  const sockets = new OwnSockets(settings.denied, settings.keepAliveMs);
  const { acks, compression } = producer;
  const options: ProduceOptions<Buffer, Buffer, Buffer, Buffer> = { acks, compression };
  const client: Producer<Buffer, Buffer, Buffer, Buffer> = new kafka.Producer({
    ...clientOptions(settings),
    timeout: producer.acksMs,
    retries: producer.isIdempotent ? Math.max(producer.retries, 1) : producer.retries,
    retryDelay: (_client, operation) => (operation === 'produce' ? producer.retryMs : settings.metadataBackoffMs),
    idempotent: producer.isIdempotent,
    autocreateTopics: false,
  });
  const broken = new AbortController();
  problems.follow(client.connections, 0, (error) => {
    broken.abort(error);
    onLost(error);
  });
  const choose = partitionerOf(producer.partitioner, kafka.murmur2);
  const close = () => client.close(true);
  try {
    // One attempt for each broker, because any of them may not respond.
    const longestMs = settings.connectMs * settings.brokers.length + settings.responseMs;
    await sockets.connect(longestMs, AbortSignal.any([signal, broken.signal]), () =>
      client.metadata({ topics: [], retries: 0 }),
    );
  } catch (error) {
    await sockets.end(GOODBYE_MS, close);
    throw broken.signal.reason ?? error;
  }
  const run = async <T>(use: () => Promise<T>): Promise<T> => {
    try {
      return await sockets.run(use);
    } catch (error) {
      // The library determines the requests that brokers support only once, so the client is replaced by a new one.
      if (isUnsupported(error)) onLost(error as Error);
      throw error;
    }
  };
  return {
    async write(topic, batch) {
      const messages = batch.map(({ payload, headers, key }) => ({
        topic,
        value: Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
        ...(key !== undefined && { key: Buffer.from(key) }),
        headers: new Map(headers.map(([name, value]) => [Buffer.from(name), Buffer.from(value)])),
      }));
      const { topics } = await run(() => client.metadata({ topics: [topic] }));
      const count = topics.get(topic)!.partitionsCount;
      const partitions = choose(messages.map(({ key }) => key)).map((chosen) => chosen % count);
      const write = async (some: readonly (typeof messages)[number][], partition: number) => {
        const placed = some.map((message) => ({ ...message, partition }));
        const { unwritableNodes = [] } = await run(() => client.send({ messages: placed, ...options }));
        if (unwritableNodes.length > 0) throw new Error('the records were not written');
      };
      // Partitions are written one after another if the producer is idempotent, because the library then uses one
      // sequence for all partitions.
      return writePartitioned(messages, partitions, write, producer.isIdempotent);
    },
    close: () => sockets.end(GOODBYE_MS, close),
  };
}
