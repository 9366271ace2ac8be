import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Collections after which code that nothing runs any more is gone, too. */
const COLLECTIONS = 16;

/** Bytes of the heap that are in use after everything else has been collected. */
export async function liveHeap(): Promise<number> {
  for (let at = 0; at < COLLECTIONS; at++) {
    await delay(10);
    collect();
  }
  return process.memoryUsage().heapUsed;
}
