import { setImmediate } from 'node:timers/promises';
import { until } from './conditions.ts';

/**
 * Waits at the end of a suite until the timers of client libraries have ended: Azure's library waits up to a minute for links that were closing when their connection was lost.
 */
export function awaitLibraryTimers(): void {
  let before = 0;
  globalThis.before(async () => {
    // Allows one timer, because the time limit of this asynchronous hook is a timer, too.
    await setImmediate();
    before = timers();
  });
  after(async function () {
    this.timeout(180_000);
    await setImmediate();
    await until(() => timers() <= before);
  });
}

/** Number of timers that keep the process alive. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}
