import { setTimeout as delay } from 'node:timers/promises';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: object) => void;

/** Memory in use after garbage collection, in bytes. */
export interface LiveHeap {
  readonly data: number;
  /** Compiled code of the process's own functions, which grows only as functions become hot. */
  readonly code: number;
}

const CODE = /^(?:shared_)?(?:code|trusted)/;

/** Measures the heap after a full collection, which also releases data cached by the engine, such as the source of compiled code. */
export async function liveHeap(): Promise<LiveHeap> {
  for (let at = 0; at < 3; at++) {
    await delay(10);
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }
  const spaces = getHeapSpaceStatistics();
  const used = (isCode: boolean) =>
    spaces
      .filter(({ space_name }) => CODE.test(space_name) === isCode)
      .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
  return { data: used(false), code: used(true) };
}
