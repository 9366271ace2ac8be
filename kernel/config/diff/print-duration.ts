import { readDuration } from '../schema/duration.ts';

/** From the longest: the first unit in which a duration is a whole number is taken. */
const UNITS: readonly (readonly [name: string, milliseconds: number])[] = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];
/** Units below the millisecond are multiplied, as they are divided when read. */
const UNITS_A_MS: readonly (readonly [name: string, aMs: number])[] = [
  ['us', 1e3],
  ['ns', 1e6],
];

const HOUR_MS = 3_600_000;
/** Hours in one part of a duration. */
const MOST_HOURS = 999_999;

/** A duration in milliseconds as a configuration says it, in one unit where that can be: `2s`, `1500ms`, `90us`. */
export function printDuration(milliseconds: number): string {
  const printed = inOneUnit(milliseconds);
  if (milliseconds < HOUR_MS || readDuration(printed) !== undefined) return printed;
  const hours = Math.min(Math.floor(milliseconds / HOUR_MS), MOST_HOURS);
  return `${hours}h${printDuration(milliseconds - hours * HOUR_MS)}`;
}

function inOneUnit(milliseconds: number): string {
  if (milliseconds === 0) return '0s';
  const whole = UNITS.find(([, unit]) => milliseconds % unit === 0);
  if (whole) return `${milliseconds / whole[1]}${whole[0]}`;
  const [name, aMs] =
    UNITS_A_MS.find(([, aMs]) => Math.round(milliseconds * aMs) / aMs === milliseconds) ?? UNITS_A_MS.at(-1)!;
  return `${Math.round(milliseconds * aMs)}${name}`;
}
