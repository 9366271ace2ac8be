import { errorsIn } from '../client.ts';

/** Errors for which a broker rejects a whole batch, although single records caused them; no record is written. */
const REFUSALS = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP']);

/** A record to write, and its outcome. */
export interface Outcome {
  /** Reason why the record was not written. */
  error?: unknown;
}

/**
 * Writes records in one batch per partition, which is written completely or not at all: a rejected batch does not
 * affect other partitions, and written records are never written again. In a rejected batch the records that caused it
 * are determined. Never rejects.
 * @param partitionOf partition of each record. @param write writes records to one partition. @param isSerial writes one
 * partition after another.
 */
export async function writePartitioned<R>(
  records: readonly R[],
  partitionOf: readonly number[],
  write: (records: readonly R[], partition: number) => Promise<void>,
  isSerial: boolean,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = records.map(() => ({}));
  const places = new Map<number, number[]>();
  for (const [at, partition] of partitionOf.entries()) {
    const some = places.get(partition);
    if (some) some.push(at);
    else places.set(partition, [at]);
  }
  const writeSome = async (some: readonly number[], partition: number): Promise<void> => {
    try {
      await write(
        some.map((at) => records[at]!),
        partition,
      );
    } catch (error) {
      if (some.length > 1 && isRefusal(error)) {
        const half = some.length >> 1;
        await writeSome(some.slice(0, half), partition);
        return writeSome(some.slice(half), partition);
      }
      for (const at of some) outcomes[at]!.error = error;
    }
  };
  const writing: Promise<void>[] = [];
  for (const [partition, some] of places) {
    const written = writeSome(some, partition);
    if (isSerial) await written;
    else writing.push(written);
  }
  await Promise.all(writing);
  return outcomes;
}

function isRefusal(error: unknown): boolean {
  return [...errorsIn(error)].some(({ apiId }) => apiId !== undefined && REFUSALS.has(apiId));
}
