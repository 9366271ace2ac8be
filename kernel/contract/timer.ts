/** The longest wait of a timer, in milliseconds: some 24 days. One that is asked for more does not wait at all. */
const LONGEST_MS = 2 ** 31 - 1;

/** A duration as a timer takes it: whole milliseconds, as many as it can wait; 0 stays 0. */
export function timerMs(durationMs: number): number {
  return Math.min(Math.ceil(durationMs), LONGEST_MS);
}
