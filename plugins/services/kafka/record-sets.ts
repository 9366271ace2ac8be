import type { Connection, Reader } from '@platformatic/kafka';
import { type Decompress, decompressors, LONGEST_BYTES } from './decompression.ts';
import { demandReadable } from './records.ts';
import { type FetchedBatch, type FetchedPartition, hideAborted } from './transactions.ts';

type Library = typeof import('@platformatic/kafka');
type Send = Parameters<Connection['send']>;

/** Records of a batch that cannot be read: the name of the only header of one record that stands for them, the last one. */
export class Unreadable {
  readonly firstOffset: bigint;
  /** As many as the batch says, where that can be. */
  readonly count: number;
  readonly why: string;

  constructor(firstOffset: bigint, count: number, why: string) {
    this.firstOffset = firstOffset;
    this.count = count;
    this.why = why;
  }
}

/** What there is of a response with records. */
interface Fetched {
  readonly responses: readonly { readonly partitions: readonly FetchedPartition[] }[];
}

/** The request for records, and its first version whose fields have tags: their contents are read as records are. */
const FETCH = 1;
const FIRST_WITH_TAGS = 12;

/** Where a batch has what it says of itself, and its records. */
const LENGTH = 8;
const AFTER_LENGTH = 12;
const MAGIC = 16;
const SUM = 17;
const ATTRIBUTES = 21;
const LAST_DELTA = 23;
const COUNT = 57;
const RECORDS = 61;

/** The only form of batches that brokers have written for years. */
const CURRENT = 2;
/** Of a batch that stands for one that cannot be read; its sum is the number of that in the response. */
const UNREADABLE = -1;
const COMPRESSION = 0b111;
const CONTROL = 0b10_0000;

/** What makes bytes of those of a batch, by its compression. */
let decompress: readonly Decompress[] = [];
/** The response that is being read. */
let reading: Reading | null = null;

/** Has the library read records as `readFetches` hands them to it. To be called once. */
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
 * Batches that cannot be read come over this connection as `Unreadable`: the library would end a stream for one of them, to
 * begin it again at the same place. Records of transactions that were aborted are left out.
 */
export function readFetches(connection: Connection): void {
  const { send } = connection;
  connection.send = ((...[key, version, payload, parse, ...rest]: Send) => {
    const parseMended: typeof parse = (...args) => {
      reading = new Reading(version);
      try {
        return reading.tell(parse(...args) as Fetched);
      } finally {
        reading = null;
      }
    };
    send.call(connection, key, version, payload, key === FETCH ? parseMended : parse, ...rest);
  }) as Connection['send'];
}

/** Reads one response. */
class Reading {
  readonly #version: number;
  readonly #unreadable: Unreadable[] = [];
  /** Of what was decompressed. */
  #bytes = 0;

  constructor(version: number) {
    this.#version = version;
  }

  /** Whether bytes are those of records. */
  isSet(bytes: unknown): boolean {
    return this.#version < FIRST_WITH_TAGS || !Buffer.isBuffer(bytes);
  }

  /**
   * The batches of a partition, decompressed, and without records where those cannot be read. What is too much for one
   * response once it is decompressed is left to the next one.
   */
  mend(set: Buffer): Buffer {
    const parts: Buffer[] = [];
    let isMended = false;
    for (let at = 0; at + AFTER_LENGTH <= set.length; ) {
      const length = set.readInt32BE(at + LENGTH);
      // Without its length nobody knows where the next one is.
      const end = length > 0 ? at + AFTER_LENGTH + length : set.length;
      // The broker cuts off the last one.
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

  /** Says of batches that could not be read what they were, and hides what was aborted. */
  tell<T extends Fetched>(response: T): T {
    for (const { partitions } of response.responses) {
      for (const partition of partitions) {
        for (const batch of partition.records ?? []) {
          if (batch.magic === UNREADABLE) tellOf(batch, this.#unreadable[batch.crc]!, partition.highWatermark);
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
      // In older formats there is something else.
      if (!isCurrent) head.writeInt32BE(0, LAST_DELTA);
      return [head];
    }
  }

  /** @throws Error with the reason where it cannot be read. */
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
      // That it is too long is known once so much is there.
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') this.#bytes += LONGEST_BYTES;
      throw error;
    }
  }
}

function isCompressed(batch: Buffer): boolean {
  return batch.length >= RECORDS && (batch.readInt16BE(ATTRIBUTES) & COMPRESSION) !== 0;
}

/** What a batch says of itself, with another length. @param without attributes that it has no more. */
function headOf(batch: Buffer, recordsLength: number, without: number): Buffer {
  const head = Buffer.alloc(RECORDS);
  batch.copy(head);
  head.writeInt32BE(RECORDS - AFTER_LENGTH + recordsLength, LENGTH);
  head.writeInt16BE(head.readInt16BE(ATTRIBUTES) & ~without, ATTRIBUTES);
  return head;
}

/** What is read next is what follows the batch, or as little as can be told where it does not say where it ends. */
function tellOf(batch: FetchedBatch, unreadable: Unreadable, highWatermark: bigint): void {
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
