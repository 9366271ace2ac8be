import { setTimeout as delay } from 'node:timers/promises';

/** Longest wait for a condition, in milliseconds: longer than any test has, so that none goes on when its test is over. */
const LONGEST_MS = 600_000;

/** Waits until something is so. The test's own timeout is the longest wait that matters. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not so after ${LONGEST_MS} ms: ${isSo}`);
    await delay(5, undefined, { ref: false });
  }
}

export { freePort } from '../../scripts/free-port.ts';
