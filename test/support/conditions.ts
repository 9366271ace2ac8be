import { setTimeout as delay } from 'node:timers/promises';

/** Maximum wait for a condition, in milliseconds. It exceeds the timeout of every test, so that the timeout of the test applies. */
const LONGEST_MS = 600_000;

/** Waits until a condition is true, limited by the timeout of the test. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not so after ${LONGEST_MS} ms: ${isSo}`);
    await delay(5, undefined, { ref: false });
  }
}

export { freePort } from '../../scripts/free-port.ts';
