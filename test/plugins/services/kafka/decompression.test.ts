import { deepEqual, equal, match, throws } from 'node:assert/strict';
import type { Reader as LibraryReader } from '@platformatic/kafka';
import { loadKafka } from '../../../../plugins/services/kafka/client.ts';
import { UNREADABLE } from '../../../../plugins/services/kafka/decompression.ts';

type Library = Awaited<ReturnType<typeof loadKafka>>;

/** Offsets of a batch of records: its attributes, and how many records it has. */
const ATTRIBUTES = 21;
const COUNT = 57;

describe('batches of Kafka', () => {
  let kafka: Library;
  before(async () => {
    kafka = await loadKafka();
  });

  const batchOf = (compression: string, ...values: Buffer[]): Buffer => {
    const messages = values.map((value) => ({ topic: 't', value }));
    return kafka.createRecordsBatch(messages, { compression: compression as 'gzip' }).buffer;
  };
  const read = (batch: Buffer) => {
    const reader: LibraryReader = kafka.Reader.from(batch);
    const { records, lastOffsetDelta } = kafka.readRecordsBatch(reader);
    return { records, lastOffsetDelta, rest: reader.remaining };
  };
  /** Why they cannot be read; null where they can. */
  const reasons = (batch: Buffer) =>
    read(batch).records.map(({ headers }) => {
      const [[name, why] = []] = [...headers] as [Buffer, Buffer][];
      return name === UNREADABLE ? String(why) : null;
    });

  for (const codec of ['gzip', 'snappy', 'lz4', 'zstd']) {
    it(`are decompressed up to 64 MiB with ${codec}, and not beyond`, () => {
      const values = [Buffer.from('a'), Buffer.alloc(200_000, 'xyz')];
      deepEqual(
        read(batchOf(codec, ...values)).records.map(({ value }) => value),
        values,
      );
      const long = batchOf(codec, Buffer.alloc(60 * 1024 * 1024, 1));
      equal(read(long).records[0]!.value!.length, 60 * 1024 * 1024);
      const bomb = batchOf(codec, Buffer.alloc(40 * 1024 * 1024), Buffer.alloc(40 * 1024 * 1024), Buffer.from('c'));
      equal(bomb.length < 1_000_000 || codec === 'snappy', true);
      const { length, 0: first } = reasons(bomb);
      equal(length, 3);
      match(first!, /67108864|larger than/);
      deepEqual([read(bomb).lastOffsetDelta, read(bomb).rest], [2, 0]);
    });

    it(`that are no ${codec} come as records that say so`, () => {
      const batch = batchOf(codec, Buffer.alloc(1000, 'abc'), Buffer.from('b'));
      batch.fill(0xff, COUNT + 4);
      deepEqual(
        reasons(batch).map((reason) => typeof reason),
        ['string', 'string'],
      );
      equal(read(batch).rest, 0);
    });
  }

  it('whose compression is not known come as records that say so', () => {
    const batch = batchOf('gzip', Buffer.from('a'));
    batch[ATTRIBUTES + 1] = 7;
    deepEqual(reasons(batch), ['the compression is not known']);
  });

  it('that cannot be read are not counted in without an end', () => {
    const batch = batchOf('gzip', Buffer.from('a'));
    batch.fill(0xff, COUNT + 4);
    batch.writeInt32BE(0x7fff_ffff, COUNT);
    throws(() => read(batch), /cannot be read/);
  });
});
