import type { Content } from './content.ts';
import type { Timers, Waits } from './timers.ts';
import type { WatchTimes } from './watch-times.ts';

/** Contents of all watched files, by path. */
export type Contents = ReadonlyMap<string, Content>;

/**
 * Reads until the changes have settled: two readings are equal, and no changed file is missing or looks unfinished.
 * After the time limit, content is accepted as it is.
 *
 * @param read reads everything.
 * @param differing paths of a reading that differ from the known content.
 */
export async function settle(
  read: () => Promise<Contents>,
  differing: (contents: Contents) => readonly string[],
  waits: Waits,
  { stabilityMs, patienceMs, retries }: Pick<WatchTimes, 'stabilityMs' | 'patienceMs' | 'retries'>,
): Promise<{ readonly contents: Contents; readonly changed: readonly string[] }> {
  const giveUpAt = waits.now() + patienceMs;
  const retryMs = Math.max(0, patienceMs / retries - stabilityMs);
  let contents = await read();
  let changed = differing(contents);
  for (let tried = 0; changed.length > 0; ) {
    await waits.pause(stabilityMs);
    const before = contents;
    contents = await read();
    changed = differing(contents);
    const late = waits.ended || waits.now() >= giveUpAt;
    if (agree(before, contents)) {
      const unfinished = changed.some((path) => contents.get(path)!.unfinished);
      if (!unfinished || late || tried >= retries) break;
      tried++;
      await waits.pause(retryMs);
    } else if (late) break;
  }
  return { contents, changed };
}

function agree(a: Contents, b: Contents): boolean {
  if (a.size !== b.size) return false;
  for (const [path, content] of a) {
    const other = b.get(path);
    if (other?.mark !== content.mark || other.hash !== content.hash) return false;
  }
  return true;
}

/**
 * Combines a burst of events into one run: `quietMs` after the last event, but no later than `longestMs` after the
 * first.
 * @returns the function to call on each event.
 */
export function debounce(
  timers: Timers,
  { quietMs, longestMs }: Pick<WatchTimes, 'quietMs' | 'longestMs'>,
  run: () => void,
): () => void {
  let firstAt: number | null = null;
  let cancel = () => {};
  return () => {
    const now = timers.now();
    firstAt ??= now;
    cancel();
    cancel = timers.after(Math.max(0, Math.min(quietMs, firstAt + longestMs - now)), () => {
      firstAt = null;
      run();
    });
  };
}
