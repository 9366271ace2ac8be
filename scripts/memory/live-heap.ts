import { setTimeout as delay } from 'node:timers/promises';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: object) => void;

/** What is in use after everything else has been collected, in bytes. */
export interface LiveHeap {
  readonly data: number;
  /** Of the process's own functions: it grows for as long as functions become hot, and with nothing else. */
  readonly code: number;
}

const CODE = /^(?:shared_)?(?:code|trusted)/;

/** Also gives back what the engine only keeps for as long as there is room, such as texts that were compiled. */
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
