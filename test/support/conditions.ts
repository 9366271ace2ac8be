import { setTimeout as delay } from 'node:timers/promises';

/** Waits until something is so. The test's own timeout is the longest wait. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(5);
}

export { freePort } from '../../scripts/free-port.ts';
