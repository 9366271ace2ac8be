import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { createRecordsBatch } from '@platformatic/kafka';
import type { Dialect } from './hostile.ts';
import { apiVersions, int16, int32, kafkaBroker, list, metadata, NOTHING, text } from './kafka-dialect.ts';

/** Numbers of Kafka's request types. */
const KEYS = {
  fetch: 1,
  listOffsets: 2,
  metadata: 3,
  commit: 8,
  committed: 9,
  coordinator: 10,
  join: 11,
  heartbeat: 12,
  leave: 13,
  sync: 14,
  apiVersions: 18,
} as const;
/** Versions without tagged fields, which need no second encoding. */
const versions: Readonly<Record<number, number>> = {
  [KEYS.fetch]: 11,
  [KEYS.listOffsets]: 5,
  [KEYS.metadata]: 5,
  [KEYS.commit]: 7,
  [KEYS.committed]: 5,
  [KEYS.coordinator]: 2,
  [KEYS.join]: 5,
  [KEYS.heartbeat]: 3,
  [KEYS.leave]: 3,
  [KEYS.sync]: 3,
  [KEYS.apiVersions]: 3,
};

/** Time for which a fetch request is held, in milliseconds. */
const POLL_MS = 5;
/** One heartbeat in so many announces a rebalance. */
const REBALANCE_EVERY = 4;
const REBALANCE_IN_PROGRESS = 27;
const NONE = int16(0);
const NOT_THROTTLED = int32(0);

/** Byte offsets in a batch. */
const LENGTH = 8;
const AFTER_LENGTH = 12;
const ATTRIBUTES = 21;
const LAST_DELTA = 23;
const COUNT = 57;
const RECORDS = 61;
const GZIP = 1;
const ZSTD = 4;

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

const bytesOf = (bytes: Buffer): Buffer => Buffer.concat([int32(bytes.length), bytes]);

/** Topic `a` with one entry for each partition. */
const topic = (...partitions: readonly Buffer[]): Buffer => list(Buffer.concat([text('a'), list(...partitions)]));

const member = (id: string): Buffer => {
  const subscription = Buffer.concat([int16(0), list(text('a')), int32(-1)]);
  return Buffer.concat([text(id), NOTHING, bytesOf(subscription)]);
};

/** A group whose leader is this member. */
const joined = Buffer.concat([
  NOT_THROTTLED,
  NONE,
  int32(1),
  text('range'),
  text('m'),
  text('m'),
  list(member('m'), member('n')),
]);
const synced = Buffer.concat([
  NOT_THROTTLED,
  NONE,
  bytesOf(Buffer.concat([int16(0), topic(int32(0), int32(1)), int32(-1)])),
]);

const plain = createRecordsBatch(
  [{ topic: 'a', value: Buffer.from('x'), headers: new Map([[Buffer.from('h'), Buffer.from('v')]]) }],
  {},
).buffer;

/** A batch with other contents. @param codec number of the compression. */
function compressed(records: Buffer, codec: number): Buffer {
  const batch = Buffer.concat([plain.subarray(0, RECORDS), records]);
  batch.writeInt32BE(batch.length - AFTER_LENGTH, LENGTH);
  batch.writeInt16BE(codec, ATTRIBUTES);
  return batch;
}

function counting(count: number, lastDelta: number): Buffer {
  const batch = Buffer.from(plain);
  batch.writeInt32BE(count, COUNT);
  batch.writeInt32BE(lastDelta, LAST_DELTA);
  return batch;
}

/** Size of a decompressed batch that exceeds the limit, in bytes. */
const BOMB_BYTES = 100 * 1024 * 1024;

/** Batches in the order in which they are sent: readable ones, and ones that must be discarded. */
const batches: readonly Buffer[] = [
  plain,
  plain,
  compressed(gzipSync(plain.subarray(RECORDS)), GZIP),
  plain,
  counting(2 ** 31 - 1, 0),
  counting(-1, -1),
  counting(1, 2 ** 31 - 1),
  compressed(gzipSync(Buffer.alloc(BOMB_BYTES)), GZIP),
  compressed(zstdCompressSync(Buffer.alloc(BOMB_BYTES)), ZSTD),
  compressed(Buffer.alloc(20, 255), 7),
  plain.subarray(0, RECORDS - 1),
];

/** A Kafka broker with a group of two members. Each fetch request gets the next batch of a list. */
export function kafkaGroupDialect(): Dialect {
  let heartbeats = 0;
  let fetches = 0;
  const fetched = async (content: Buffer): Promise<Buffer> => {
    await wait(POLL_MS);
    const head = Buffer.concat([NOT_THROTTLED, NONE, int32(0)]);
    const topics = content.readInt32BE(25);
    if (topics === 0) return Buffer.concat([head, list()]);
    const name = 31 + content.readInt16BE(29);
    const [partition, offset] = [content.readInt32BE(name + 4), content.readBigInt64BE(name + 12)];
    const batch = Buffer.from(batches[fetches++ % batches.length]!);
    batch.writeBigInt64BE(offset);
    const records = Buffer.concat([
      int32(partition),
      NONE,
      int64(offset + 1n),
      int64(offset + 1n),
      int64(0n),
      int32(-1),
      int32(-1),
    ]);
    return Buffer.concat([head, topic(Buffer.concat([records, bytesOf(batch)]))]);
  };
  const places = (entry: (partition: number) => Buffer): Buffer => topic(entry(0), entry(1));
  return kafkaBroker(({ key, content }, socket) => {
    const answers: Readonly<Record<number, () => Buffer | Promise<Buffer>>> = {
      [KEYS.apiVersions]: () => apiVersions(versions),
      [KEYS.metadata]: () => metadata(socket.localPort!),
      [KEYS.coordinator]: () =>
        Buffer.concat([NOT_THROTTLED, NONE, NOTHING, int32(1), text('127.0.0.1'), int32(socket.localPort!)]),
      [KEYS.join]: () => joined,
      [KEYS.sync]: () => synced,
      [KEYS.heartbeat]: () =>
        Buffer.concat([NOT_THROTTLED, int16(++heartbeats % REBALANCE_EVERY === 0 ? REBALANCE_IN_PROGRESS : 0)]),
      [KEYS.leave]: () => Buffer.concat([NOT_THROTTLED, NONE, list()]),
      [KEYS.committed]: () =>
        Buffer.concat([
          NOT_THROTTLED,
          places((at) => Buffer.concat([int32(at), int64(-1n), int32(-1), NOTHING, NONE])),
          NONE,
        ]),
      [KEYS.commit]: () => Buffer.concat([NOT_THROTTLED, places((at) => Buffer.concat([int32(at), NONE]))]),
      [KEYS.listOffsets]: () =>
        Buffer.concat([
          NOT_THROTTLED,
          places((at) => Buffer.concat([int32(at), NONE, int64(-1n), int64(0n), int32(-1)])),
        ]),
      [KEYS.fetch]: () => fetched(content),
    };
    return answers[key]?.() ?? Buffer.alloc(0);
  });
}
