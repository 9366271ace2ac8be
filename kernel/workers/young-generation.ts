import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Room for new objects, in MiB, from which on it grows no more. What a request makes is garbage when it is over: V8's own bound,
 * four times as much, makes a process 50 MiB larger and saves it no work.
 */
const MOST_MIB = 8;

/** V8 counts both halves, of which one is empty. */
const MOST_BYTES = 2 * MOST_MIB * 2 ** 20;

/** Arguments of Node.js that bound it; none where somebody has set another bound. */
export function boundInArguments(): readonly string[] {
  return isBound() ? [] : [`--max-semi-space-size=${MOST_MIB}`];
}

/**
 * From now on requests are served: the room for new objects grows up to that bound. While a configuration is loaded it does not
 * (`kernel/bin.ts`): what is made then stays.
 * @returns ends it.
 */
export function serveFromYoungGeneration(): () => void {
  setGrowth(2);
  if (isBound()) return () => {};
  // V8 takes room away from a process that rests, which is to grow again.
  const observer = new PerformanceObserver(() => setGrowth(youngBytes() < MOST_BYTES ? 2 : 1));
  observer.observe({ entryTypes: ['gc'] });
  return () => {
    observer.disconnect();
    setGrowth(2);
  };
}

function isBound(): boolean {
  const given = `${process.env['NODE_OPTIONS'] ?? ''} ${process.execArgv.join(' ')}`;
  return /--m(?:in|ax)[-_]semi[-_]space[-_]size/.test(given);
}

function setGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
}
