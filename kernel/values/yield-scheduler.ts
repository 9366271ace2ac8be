import { performance } from 'node:perf_hooks';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/** Duration of work between two turns of the event loop, in milliseconds: adapts to the duration of requests, which notice it less the longer they take. */
const SLICE_MS = { least: 0.5, most: 3 };

/** Time for requests between two slices, as a multiple of the duration of a slice. */
const REQUESTS_TIMES = 4;

/** Minimum time for requests between two slices, in milliseconds. */
const REST_MS = 1;

/** Time after a request during which the gateway counts as busy, in milliseconds. */
const BUSY_MS = 20;

/** Time of the first `due` check in this turn of the event loop; null before it. */
let began: number | null = null;
const nextBegins = (): void => {
  began = null;
};

let sliceMs = SLICE_MS.least;

/** True if a request has arrived since the last yield. */
let hasRequests = false;
/** Time of the last yield before which a request had arrived. */
let requestsAt = Number.NEGATIVE_INFINITY;

/**
 * Divides long work into short slices, so that requests continue to be served; under load, requests get most of the CPU
 * time. Shared by the whole process, because there is one event loop: several short tasks in a row add up to a long
 * one.
 *
 * @example for (const item of items) { work(item); if (scheduler.due) await scheduler.yield(); }
 */
export const scheduler = {
  /** True if the event loop needs a turn. */
  get due(): boolean {
    const now = performance.now();
    if (began !== null) return now - began > sliceMs;
    began = now;
    setImmediate(nextBegins);
    return false;
  },

  /** Lets all other pending work run. */
  async yield(): Promise<void> {
    const before = performance.now();
    await nextTurn();
    if (hasRequests) requestsAt = performance.now();
    hasRequests = false;
    if (performance.now() - requestsAt < BUSY_MS) await delay(REST_MS);
    const othersMs = performance.now() - before;
    sliceMs = Math.min(Math.max(othersMs / REQUESTS_TIMES, SLICE_MS.least), SLICE_MS.most);
    began = null;
  },

  /** Records that a request has arrived. */
  noticeRequest(): void {
    hasRequests = true;
  },
};
