import type { QuotaUnit } from '#contract';

/** Units of the windows in which use is counted: calendar units in UTC. */
export const units = [
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'year',
] as const satisfies readonly QuotaUnit[];

export type Unit = QuotaUnit;

/** Start and end of a window, in milliseconds since 1970. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

const DAY_MS = 86_400_000;
const lengthsMs: Readonly<Partial<Record<Unit, number>>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
};

/** Offset of the first Monday of 1970, in milliseconds. */
const MONDAY_MS = 4 * DAY_MS;

/** The window that contains a moment; weeks start on Monday. */
export function windowOf(unit: Unit, now: number): Window {
  const length = lengthsMs[unit];
  if (length !== undefined) {
    const from = unit === 'week' ? MONDAY_MS : 0;
    const start = Math.floor((now - from) / length) * length + from;
    return { start, end: start + length };
  }
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return unit === 'month'
    ? { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) }
    : { start: Date.UTC(year, 0), end: Date.UTC(year + 1, 0) };
}
