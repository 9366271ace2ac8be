/** Maximum delay of a timer in milliseconds, about 24 days. Node.js runs timers with longer delays immediately. */
const LONGEST_MS = 2 ** 31 - 1;

/** Converts a duration for a timer: whole milliseconds, limited to the maximum delay; 0 stays 0. */
export function timerMs(durationMs: number): number {
  return Math.min(Math.ceil(durationMs), LONGEST_MS);
}
