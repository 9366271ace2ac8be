/** A batch parsed by the library. */
export interface FetchedBatch {
  readonly firstOffset: bigint;
  lastOffsetDelta: number;
  readonly firstTimestamp: bigint;
  readonly magic: number;
  /** The declared checksum. */
  readonly crc: number;
  readonly attributes: number;
  readonly producerId: bigint;
  records: FetchedRecord[];
}

interface FetchedRecord {
  readonly offsetDelta: number;
  readonly timestampDelta: bigint;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [name: Buffer | null, value: Buffer | null])[];
}

/** A broker's response for one partition. */
export interface FetchedPartition {
  readonly highWatermark: bigint;
  /** Aborted transactions with records in the batches; null for a consumer that also reads uncommitted records. */
  abortedTransactions: readonly { readonly producerId: bigint; readonly firstOffset: bigint }[] | null;
  readonly records: readonly FetchedBatch[] | null;
}

const TRANSACTIONAL = 0b1_0000;
const CONTROL = 0b10_0000;
/** Position of the kind in the key of a record that ends a transaction, after the two bytes of the version. */
const KIND = 2;
const ABORT = 0;

/**
 * Removes the records of aborted transactions from their batches. The library's own filter keeps the records of a
 * transaction whose end is in a later response, and of all but the last transaction of a producer; it throws if the end
 * was removed by compaction.
 */
export function hideAborted(partition: FetchedPartition): void {
  const coming = [...(partition.abortedTransactions ?? [])].sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1));
  if (coming.length === 0) return;
  partition.abortedTransactions = [];
  /** Producers with an aborted transaction at the current position. */
  const aborted = new Set<bigint>();
  for (const batch of partition.records ?? []) {
    const last = batch.firstOffset + BigInt(batch.lastOffsetDelta);
    while (coming.length > 0 && coming[0]!.firstOffset <= last) aborted.add(coming.shift()!.producerId);
    if (endsAborted(batch)) aborted.delete(batch.producerId);
    else if (batch.attributes & TRANSACTIONAL && aborted.has(batch.producerId)) batch.records = [];
  }
}

function endsAborted({ attributes, records: [first] }: FetchedBatch): boolean {
  const key = first?.key;
  return (attributes & CONTROL) !== 0 && !!key && key.length >= KIND + 2 && key.readInt16BE(KIND) === ABORT;
}
