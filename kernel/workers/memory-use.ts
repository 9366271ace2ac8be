import { getHeapStatistics } from 'node:v8';

/** Memory of a process, in bytes. */
export interface MemoryUse {
  /** All that is in the machine's memory. */
  readonly rssBytes: number;
  /** Objects of JavaScript, those not yet collected included. */
  readonly heapUsedBytes: number;
}

/** What this process uses now. */
export function memoryUse(): MemoryUse {
  return { rssBytes: process.memoryUsage.rss(), heapUsedBytes: getHeapStatistics().used_heap_size };
}
