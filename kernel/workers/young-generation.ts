import { statSync } from 'node:fs';
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

/** From so many bytes on a file has thousands of endpoints. */
const LARGE_FILE_BYTES = 512 * 1024;

/** Room while such a file is loaded, in bytes: more of it would save little work and keep more memory. */
const LOADING_BYTES = 2 * 4 * 2 ** 20;

/**
 * From now on a configuration file is loaded. For a large one the room for new objects grows: looked through a quarter as often,
 * they take half the time (10,000 endpoints: 111 times and 250 ms in place of 457 and 430), and 8 MiB more.
 * @returns ends it.
 */
export function loadIntoYoungGeneration(file: string): () => void {
  if (sizeOf(file) < LARGE_FILE_BYTES) return () => {};
  const stop = growUpTo(LOADING_BYTES);
  return () => {
    stop();
    setGrowth(1);
  };
}

/**
 * From now on requests are served: the room for new objects grows up to that bound. While a configuration is loaded it does not
 * (`kernel/bin.ts`): what is made then stays.
 * @returns ends it.
 */
export function serveFromYoungGeneration(): () => void {
  setGrowth(2);
  if (isBound()) return () => {};
  const stop = growUpTo(MOST_BYTES);
  return () => {
    stop();
    setGrowth(2);
  };
}

/** Lets the room grow to so many bytes. @returns stops looking after it. */
function growUpTo(bytes: number): () => void {
  setGrowth(2);
  // V8 takes room away from a process that rests, which is to grow again.
  const observer = new PerformanceObserver(() => setGrowth(youngBytes() < bytes ? 2 : 1));
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

/** Nothing for what cannot be read: whoever reads it tells why. */
function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
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
