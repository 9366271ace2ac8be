import type { Timers } from './timers.ts';
import type { WatchTimes } from './watch-times.ts';

/**
 * Turns a burst of events into one run: `quietMs` after the last event, but no later than `longestMs` after the first.
 * @returns what to call on each event.
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
