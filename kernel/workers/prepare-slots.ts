import { untilAborted } from '../values/until-aborted.ts';
import type { PrepareOrder } from './messages.ts';
import type { WorkerSlot } from './worker-slot.ts';

/**
 * Prepares a configuration in all workers or in none.
 * @returns a function that makes all workers release it. @throws the first rejection; the reason of the signal.
 */
export async function prepareSlots(
  slots: readonly WorkerSlot[],
  order: PrepareOrder,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const settled = await Promise.allSettled(slots.map((slot) => untilAborted(slot.prepare(order), signal)));
  const abort = async (): Promise<void> => {
    await Promise.all(slots.map((slot) => slot.abort()));
  };
  const refused = settled.find((outcome) => outcome.status === 'rejected');
  if (!refused) return abort;
  const released = abort();
  // The abort is not awaited: a worker processes orders in sequence, so the next one follows it.
  if (!signal.aborted) await released;
  throw refused.reason;
}
