/** A batch as the library has read it. */
export interface FetchedBatch {
  readonly firstOffset: bigint;
  lastOffsetDelta: number;
  readonly firstTimestamp: bigint;
  readonly magic: number;
  /** The sum that it says. */
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

/** What a broker responds of a partition. */
export interface FetchedPartition {
  readonly highWatermark: bigint;
  /** Transactions of which the batches hold something; null for who reads what is not committed, too. */
  abortedTransactions: readonly { readonly producerId: bigint; readonly firstOffset: bigint }[] | null;
  readonly records: readonly FetchedBatch[] | null;
}

const TRANSACTIONAL = 0b1_0000;
const CONTROL = 0b10_0000;
/** In the key of a record that ends a transaction, after the two bytes of its version. */
const KIND = 2;
const ABORT = 0;

/**
 * Takes the records of aborted transactions out of their batches. The library itself shows those of a transaction whose end
 * is in a later response, and of all but the last one of a producer; and throws for an end that was compacted.
 */
export function hideAborted(partition: FetchedPartition): void {
  const coming = [...(partition.abortedTransactions ?? [])].sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1));
  if (coming.length === 0) return;
  partition.abortedTransactions = [];
  /** Producers whose transaction at this place was aborted. */
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
