import type { Connection, Reader } from '@platformatic/kafka';
import { type Decompress, decompressors, LONGEST_BYTES } from './decompression.ts';
import { demandReadable } from './records.ts';
import { type FetchedBatch, type FetchedPartition, hideAborted } from './transactions.ts';

type Library = typeof import('@platformatic/kafka');
type Send = Parameters<Connection['send']>;

/** Placeholder for a batch that cannot be read: the name of the only header of a single record at the batch's last offset. */
export class Unreadable {
  readonly firstOffset: bigint;
  /** Number of records declared by the batch, if plausible. */
  readonly count: number;
  readonly why: string;

  constructor(firstOffset: bigint, count: number, why: string) {
    this.firstOffset = firstOffset;
    this.count = count;
    this.why = why;
  }
}

/** Relevant part of a response with records. */
interface Fetched {
  readonly responses: readonly { readonly partitions: readonly FetchedPartition[] }[];
}

/** API key of fetch requests, and their first version with tagged fields, whose contents are parsed like records. */
const FETCH = 1;
const FIRST_WITH_TAGS = 12;

/** Offsets of the header fields and the records in a batch. */
const LENGTH = 8;
const AFTER_LENGTH = 12;
const MAGIC = 16;
const SUM = 17;
const ATTRIBUTES = 21;
const LAST_DELTA = 23;
const COUNT = 57;
const RECORDS = 61;

/** Version of the record batch format, the only one that current brokers write. */
const CURRENT = 2;
/** Format of a placeholder for a batch that cannot be read; its checksum is the batch's number in the response. */
const UNREADABLE = -1;
const COMPRESSION = 0b111;
const CONTROL = 0b10_0000;

/** Decompression functions, by codec number. */
let decompress: readonly Decompress[] = [];
/** The response that is being parsed. */
let reading: Reading | null = null;

/** Makes the library parse records as `readFetches` prepares them. Must be called once. */
export function prepareReading(library: Library): void {
  decompress = decompressors(library);
  const { Reader: Own } = library;
  const { from } = Own;
  Own.from = (bytes): Reader => {
    const reader = from(bytes);
    return reading?.isSet(bytes) ? from(reading.mend(reader.buffer.buffer)) : reader;
  };
}

/**
 * Turns batches that cannot be read on this connection into `Unreadable`: the library would end the stream for such a
 * batch and start it again at the same position. Omits the records of aborted transactions.
 */
export function readFetches(connection: Connection): void {
  const { send } = connection;
  connection.send = ((...[key, version, payload, parse, ...rest]: Send) => {
    const parseMended: typeof parse = (...args) => {
      reading = new Reading(version);
      try {
        return reading.describe(parse(...args) as Fetched);
      } finally {
        reading = null;
      }
    };
    send.call(connection, key, version, payload, key === FETCH ? parseMended : parse, ...rest);
  }) as Connection['send'];
}

/** Parser of one response. */
class Reading {
  readonly #version: number;
  readonly #unreadable: Unreadable[] = [];
  /** Decompressed bytes so far. */
  #bytes = 0;

  constructor(version: number) {
    this.#version = version;
  }

  /** Whether the value is a set of records. */
  isSet(bytes: unknown): boolean {
    return this.#version < FIRST_WITH_TAGS || !Buffer.isBuffer(bytes);
  }

  /**
   * Decompresses the batches of a partition, and empties those that cannot be read. Batches that would exceed the
   * decompressed size of one response are left to the next one.
   */
  mend(set: Buffer): Buffer {
    const parts: Buffer[] = [];
    let isMended = false;
    for (let at = 0; at + AFTER_LENGTH <= set.length; ) {
      const length = set.readInt32BE(at + LENGTH);
      // Without a valid length, the position of the next batch is unknown, so the rest is dropped.
      const end = length > 0 ? at + AFTER_LENGTH + length : set.length;
      // The broker may truncate the last batch, which is then read again with the next request.
      if (end > set.length) break;
      const batch = set.subarray(at, end);
      if (this.#bytes >= LONGEST_BYTES && isCompressed(batch)) {
        isMended = true;
        break;
      }
      const mended = this.#mendBatch(batch);
      for (const part of mended) parts.push(part);
      isMended ||= mended[0] !== batch;
      at = end;
    }
    return isMended ? Buffer.concat(parts) : set;
  }

  /** Describes batches that could not be read, and hides aborted transactions. */
  describe<T extends Fetched>(response: T): T {
    for (const { partitions } of response.responses) {
      for (const partition of partitions) {
        for (const batch of partition.records ?? []) {
          if (batch.magic === UNREADABLE)
            describeUnreadable(batch, this.#unreadable[batch.crc]!, partition.highWatermark);
        }
        hideAborted(partition);
      }
    }
    return response;
  }

  #mendBatch(batch: Buffer): readonly Buffer[] {
    try {
      return this.#readBatch(batch);
    } catch (error) {
      const head = headOf(batch, 0, COMPRESSION | CONTROL);
      const isCurrent = head[MAGIC] === CURRENT;
      const count = head.readInt32BE(COUNT);
      const isCount = isCurrent && count > 0 && count <= head.readInt32BE(LAST_DELTA) + 1;
      this.#unreadable.push(new Unreadable(head.readBigInt64BE(0), isCount ? count : 1, (error as Error).message));
      head.writeInt8(UNREADABLE, MAGIC);
      head.writeUInt32BE(this.#unreadable.length - 1, SUM);
      head.writeInt32BE(0, COUNT);
      // Older formats are excluded, because these bytes have another meaning there.
      if (!isCurrent) head.writeInt32BE(0, LAST_DELTA);
      return [head];
    }
  }

  /** @throws Error with the reason if the batch cannot be read. */
  #readBatch(batch: Buffer): readonly Buffer[] {
    if (batch.length < RECORDS || batch.readInt32BE(LENGTH) !== batch.length - AFTER_LENGTH) {
      throw new Error('the length of a batch is wrong');
    }
    const magic = batch.readInt8(MAGIC);
    if (magic !== CURRENT) throw new Error(`unknown batch format ${magic}`);
    const data = batch.subarray(RECORDS);
    const records = this.#decompress(data, batch.readInt16BE(ATTRIBUTES) & COMPRESSION);
    demandReadable(records, batch.readInt32BE(COUNT), batch.readInt32BE(LAST_DELTA));
    return records === data ? [batch] : [headOf(batch, records.length, COMPRESSION), records];
  }

  #decompress(data: Buffer, codec: number): Buffer {
    if (codec === 0) return data;
    try {
      const records = decompress[codec]!(data);
      this.#bytes += records.length;
      return records;
    } catch (error) {
      // The library reports that a batch is too long only after it has decompressed that many bytes, so they count.
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') this.#bytes += LONGEST_BYTES;
      throw error;
    }
  }
}

function isCompressed(batch: Buffer): boolean {
  return batch.length >= RECORDS && (batch.readInt16BE(ATTRIBUTES) & COMPRESSION) !== 0;
}

/** Copies the header of a batch and sets the length of its records. @param cleared attribute bits that the copy clears. */
function headOf(batch: Buffer, recordsLength: number, cleared: number): Buffer {
  const head = Buffer.alloc(RECORDS);
  batch.copy(head);
  head.writeInt32BE(RECORDS - AFTER_LENGTH + recordsLength, LENGTH);
  head.writeInt16BE(head.readInt16BE(ATTRIBUTES) & ~cleared, ATTRIBUTES);
  return head;
}

/** Sets the position of the next read: after the batch or, if the end of the batch is not plausible, at the high watermark. */
function describeUnreadable(batch: FetchedBatch, unreadable: Unreadable, highWatermark: bigint): void {
  const { firstOffset } = batch;
  const isKnown = batch.lastOffsetDelta >= 0 && firstOffset + BigInt(batch.lastOffsetDelta) < highWatermark;
  if (!isKnown) batch.lastOffsetDelta = Math.max(Number(highWatermark - 1n - firstOffset), 0);
  batch.records.push({
    offsetDelta: batch.lastOffsetDelta,
    timestampDelta: -batch.firstTimestamp,
    key: null,
    value: null,
    headers: [[unreadable as never, null]],
  });
}
