import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Chance } from '../../test/support/chance.ts';

/** Does not wait, or waits for a turn of the event loop or a few milliseconds. */
export async function someTime(chance: Chance): Promise<void> {
  const kind = chance.below(4);
  if (kind === 1) await nextTurn();
  if (kind === 2) await wait(1);
  if (kind === 3) await wait(chance.below(10));
}

/** Collects garbage now and then; `--expose-gc` is required. */
export function collect(chance: Chance, oneOf: number): void {
  if (chance.below(oneOf) === 0) globalThis.gc!();
}

/** Number of concurrent connections. */
const LANES = 4;

/** Runs a task a number of times, several at once. */
export async function inLanes(times: number, run: () => Promise<void>): Promise<void> {
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (begun++ < times) await run();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}
