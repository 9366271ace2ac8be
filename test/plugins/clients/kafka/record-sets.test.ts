import { deepEqual, equal, match } from 'node:assert/strict';
import { zstdCompressSync } from 'node:zlib';
import type { Connection } from '@platformatic/kafka';
import { loadKafka } from '../../../../plugins/clients/kafka/client.ts';
import { readFetches, Unreadable } from '../../../../plugins/clients/kafka/record-sets.ts';
import type { FetchedBatch, FetchedPartition } from '../../../../plugins/clients/kafka/transactions.ts';

type Library = Awaited<ReturnType<typeof loadKafka>>;
type Parse = () => { responses: { partitions: FetchedPartition[] }[] };

/** Byte offsets of the header fields of a batch. */
const LENGTH = 8;
const MAGIC = 16;
const ATTRIBUTES = 21;
const LAST_DELTA = 23;
const COUNT = 57;
const RECORDS = 61;

const FETCH = 1;
/** In older protocol versions, a record set is a buffer. */
const VERSION = 11;

describe('Kafka record batches', () => {
  let kafka: Library;
  before(async () => {
    kafka = await loadKafka();
  });

  const batchOf = (firstOffset: number, values: readonly (string | Buffer)[], compression = 'none'): Buffer => {
    const messages = values.map((value) => ({ topic: 't', value: Buffer.from(value) }));
    const batch = kafka.createRecordsBatch(messages, { compression: compression as 'gzip' }).buffer;
    batch.writeBigInt64BE(BigInt(firstOffset));
    return batch;
  };
  /** Parses a response with batches like the library. */
  const fetch = (batches: readonly Buffer[], more: Partial<FetchedPartition> = {}): readonly FetchedBatch[] => {
    const parse: Parse = () => {
      const records = kafka.readRecordsBatches(kafka.Reader.from(Buffer.concat(batches))) as unknown as FetchedBatch[];
      return { responses: [{ partitions: [{ highWatermark: 1000n, abortedTransactions: null, ...more, records }] }] };
    };
    let mended = parse;
    const connection = {
      send(...[, , , own]: unknown[]) {
        mended = own as Parse;
      },
    } as unknown as Connection;
    readFetches(connection);
    connection.send(
      FETCH,
      VERSION,
      () => null as never,
      parse as never,
      false,
      false,
      () => {},
    );
    return mended().responses[0]!.partitions[0]!.records!;
  };
  /** The returned values by their offsets, or unreadable ranges. */
  const seen = (batches: readonly FetchedBatch[]) =>
    batches.flatMap(({ firstOffset, records }) =>
      records.map(({ offsetDelta, value, headers: [header] }) => {
        const offset = Number(firstOffset) + offsetDelta;
        const unreadable: unknown = header?.[0];
        if (!(unreadable instanceof Unreadable)) return `${offset} ${value}`;
        return `${unreadable.firstOffset} to ${offset}: ${unreadable.count} unreadable`;
      }),
    );
  /** The offset at which reading continues. */
  const next = (batches: readonly FetchedBatch[]) => {
    const { firstOffset, lastOffsetDelta } = batches.at(-1)!;
    return Number(firstOffset) + lastOffsetDelta + 1;
  };
  const broken = (firstOffset: number, change: (batch: Buffer) => void, values = ['x', 'y', 'z']): Buffer => {
    const batch = batchOf(firstOffset, values);
    change(batch);
    return batch;
  };

  for (const compression of ['none', 'gzip', 'snappy', 'lz4', 'zstd']) {
    it(`are parsed with ${compression} compression`, () => {
      const batches = fetch([batchOf(5, ['a', 'b'], compression), batchOf(7, ['', 'c'.repeat(300)], compression)]);
      deepEqual(seen(batches), ['5 a', '6 b', '7 ', `8 ${'c'.repeat(300)}`]);
      equal(next(batches), 9);
    });
  }

  for (const [what, change] of [
    ['the length of a record', (batch) => batch.writeUInt8(0x7e, RECORDS)],
    ['a negative record length', (batch) => batch.writeUInt8(0x01, RECORDS)],
    ['an endless variable-length integer', (batch) => batch.fill(0xff, RECORDS)],
    ['a record count that is too high', (batch) => batch.writeInt32BE(4, COUNT)],
    ['a record count that is too low', (batch) => batch.writeInt32BE(2, COUNT)],
    ['a gigantic record count', (batch) => batch.writeInt32BE(0x7fff_ffff, COUNT)],
    ['a negative record count', (batch) => batch.writeInt32BE(-1, COUNT)],
    ['the length of a value', (batch) => batch.writeUInt8(0x7e, RECORDS + 5)],
    ['the length of a key', (batch) => batch.writeUInt8(0x03, RECORDS + 4)],
    ['the number of headers', (batch) => batch.writeUInt8(0x7e, RECORDS + 7)],
    ['a duplicate record offset', (batch) => batch.writeUInt8(0, RECORDS + 8 + 3)],
    ['a record offset outside its batch', (batch) => batch.writeUInt8(0x7e, RECORDS + 3)],
    ['the format', (batch) => batch.writeUInt8(1, MAGIC)],
    ['a compression flag on uncompressed data', (batch) => batch.writeInt16BE(1, ATTRIBUTES)],
    ['an unknown compression codec', (batch) => batch.writeInt16BE(7, ATTRIBUTES)],
  ] as [string, (batch: Buffer) => void][]) {
    it(`with an error in ${what} are reported as unreadable, and the batches before and after them are read`, () => {
      const batches = fetch([batchOf(5, ['a']), broken(6, change), batchOf(9, ['b'])]);
      const [first, wrong, last] = seen(batches);
      deepEqual([first, last], ['5 a', '9 b']);
      match(wrong!, /^6 to [68]: [1234] unreadable$/);
      equal(next(batches), 10);
      const alone = fetch([broken(6, change)]);
      equal(next(alone) > 6 && next(alone) <= 9, true);
    });
  }

  it('have as many records as their header declares, if that is plausible', () => {
    const wrong = (batch: Buffer) => batch.writeUInt8(0x7e, RECORDS);
    deepEqual(seen(fetch([broken(6, wrong)])), ['6 to 8: 3 unreadable']);
    const lying = (batch: Buffer) => batch.writeInt32BE(0x7fff_ffff, COUNT);
    deepEqual(seen(fetch([broken(6, lying)])), ['6 to 8: 1 unreadable']);
  });

  it('with an invalid last offset are skipped, together with the rest of the response', () => {
    for (const delta of [-1, 0x7fff_ffff]) {
      const wrong = (batch: Buffer) => {
        batch.writeInt32BE(delta, LAST_DELTA);
        batch.fill(0xff, RECORDS);
      };
      const batches = fetch([broken(6, wrong)], { highWatermark: 20n });
      match(seen(batches)[0]!, /^6 to 19: /);
      equal(next(batches), 20);
    }
  });

  it('that are undersized or have an invalid length are skipped together with the rest of the response', () => {
    const short = batchOf(6, ['x']).subarray(0, 30);
    short.writeInt32BE(short.length - 12, LENGTH);
    deepEqual(seen(fetch([short, batchOf(7, ['b'])])), ['6 to 6: 1 unreadable', '7 b']);
    for (const length of [0, -5, -0x8000_0000]) {
      const batches = fetch([broken(6, (batch) => batch.writeInt32BE(length, LENGTH)), batchOf(9, ['b'])]);
      deepEqual(seen(batches), ['6 to 8: 3 unreadable']);
      equal(next(batches), 9);
    }
  });

  it('are read without the last one if the broker truncated it', () => {
    const whole = batchOf(5, ['a']);
    deepEqual(seen(fetch([whole, batchOf(6, ['b']).subarray(0, 65)])), ['5 a']);
    deepEqual(seen(fetch([whole, batchOf(6, ['b']).subarray(0, 9)])), ['5 a']);
    deepEqual(seen(fetch([batchOf(5, ['a'], 'gzip'), batchOf(6, ['b']).subarray(0, 65)])), ['5 a']);
  });

  it('larger than 64 MiB after decompression are left to the next response', () => {
    const long = Buffer.alloc(40 * 1024 * 1024);
    const batches = fetch([0, 1, 2, 3].map((offset) => batchOf(offset, [long], 'zstd')));
    equal(next(batches), 2);
  });

  it('that are too large after decompression are reported one at a time, each with its own response', () => {
    const bomb = (offset: number) => {
      const data = zstdCompressSync(Buffer.alloc(70 * 1024 * 1024));
      const batch = Buffer.concat([batchOf(offset, ['a']).subarray(0, RECORDS), data]);
      batch.writeInt32BE(batch.length - 12, LENGTH);
      batch.writeInt16BE(4, ATTRIBUTES);
      return batch;
    };
    deepEqual(seen(fetch([bomb(4), bomb(5), bomb(6)])), ['4 to 4: 1 unreadable']);
    deepEqual(seen(fetch([bomb(4), batchOf(5, ['b'])])), ['4 to 4: 1 unreadable', '5 b']);
  });

  describe('in transactions', () => {
    const of = (producer: number, firstOffset: number, values: string[]) =>
      broken(
        firstOffset,
        (batch) => {
          batch.writeInt16BE(0b1_0000, ATTRIBUTES);
          batch.writeBigInt64BE(BigInt(producer), 43);
        },
        values,
      );
    /**
     * The control record at the end of a transaction.
     * @param kind 0 for an abort, 1 for a commit.
     */
    const end = (producer: number, firstOffset: number, kind: number) => {
      const key = Buffer.from([0, 0, 0, kind]);
      const messages = [{ topic: 't', key, value: Buffer.alloc(6) }];
      const batch = kafka.createRecordsBatch(messages, {}).buffer;
      batch.writeBigInt64BE(BigInt(firstOffset));
      batch.writeInt16BE(0b11_0000, ATTRIBUTES);
      batch.writeBigInt64BE(BigInt(producer), 43);
      return batch;
    };
    const shown = (batches: Buffer[], ...aborted: [producer: number, firstOffset: number][]) => {
      const abortedTransactions = aborted.map(([producer, firstOffset]) => ({
        producerId: BigInt(producer),
        firstOffset: BigInt(firstOffset),
      }));
      const read = fetch(batches, { abortedTransactions });
      return seen(read.filter(({ attributes }) => (attributes & 0b10_0000) === 0));
    };

    it('are returned if the transaction was committed, and skipped if it was aborted', () => {
      const batches = [of(1, 0, ['a']), of(2, 1, ['b']), end(1, 2, 0), end(2, 3, 1), of(1, 4, ['c']), end(1, 5, 1)];
      deepEqual(shown(batches, [1, 0]), ['1 b', '4 c']);
      deepEqual(shown(batches), ['0 a', '1 b', '4 c']);
    });

    it('of aborted transactions are skipped regardless of where the response begins and ends', () => {
      deepEqual(shown([of(1, 7, ['a']), of(2, 8, ['b'])], [1, 3]), ['8 b']);
      deepEqual(shown([of(1, 7, ['a']), batchOf(8, ['b'])], [1, 7]), ['8 b']);
    });

    it('of one producer are skipped or returned depending on how each transaction ended', () => {
      const batches = [of(1, 0, ['a']), end(1, 1, 0), of(1, 2, ['b']), end(1, 3, 1), of(1, 4, ['c']), end(1, 5, 0)];
      deepEqual(shown(batches, [1, 0], [1, 4]), ['2 b']);
    });

    it('are read even if the broker has removed the end of the transaction by compaction', () => {
      const empty = end(1, 1, 0).subarray(0, RECORDS);
      empty.writeInt32BE(RECORDS - 12, LENGTH);
      empty.writeInt32BE(0, COUNT);
      deepEqual(shown([of(1, 0, ['a']), empty, batchOf(2, ['b'])], [1, 0]), ['2 b']);
    });
  });
});
