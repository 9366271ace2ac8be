import { setImmediate as turn } from 'node:timers/promises';

/** Number of elements processed before other requests get a turn: about 3 ms. */
const AT_ONCE = 500;

/** Processes elements in batches, and lets other requests run in between. */
export async function inTurns(elements: readonly string[], work: (some: readonly string[]) => void): Promise<void> {
  for (let at = 0; at < elements.length; at += AT_ONCE) {
    if (at > 0) await turn();
    work(elements.slice(at, at + AT_ONCE));
  }
}
