import { errorsIn } from './client.ts';

/** Why a broker takes none of some records, whoever of them is to blame; none of them is written. */
const REFUSALS = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP']);

/** A record that is to be written, and what became of it. */
export interface Outcome {
  /** Why it was not written. */
  error?: unknown;
}

/**
 * Writes records together, but each partition by itself, which takes all of them or none: what one of them does not take is no
 * trouble of another, and nothing that was written is written again. Of records that are refused together those are looked for
 * that are to blame. Never rejects.
 * @param partitionOf by record. @param write writes records to one partition. @param isSerial one partition after another.
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
