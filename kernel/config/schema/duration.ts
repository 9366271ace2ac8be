const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Units per millisecond. Units below the millisecond are divided, not multiplied, so that round values stay exact. */
const UNITS_A_MS: Readonly<Record<string, number>> = { ns: 1e6, us: 1e3, '\u00b5s': 1e3, '\u03bcs': 1e3 };

/** The longest part of a duration, about 114 years. */
export const LONGEST_DURATION = '999999h';

/** Maximum number of integer digits in each unit, without leading zeros; any longer number exceeds the maximum. */
const DIGITS = { ns: 19, us: 16, '\u00b5s': 16, '\u03bcs': 16, ms: 13, s: 10, m: 8, h: 6 } as const;

const UNIT = `(?:${Object.keys(DIGITS).join('|')})`;
const NUMBER = '(?:\\d+(?:\\.\\d*)?|\\.\\d+)';
const shape = new RegExp(`^(?:${NUMBER}${UNIT})+$`);
const terms = new RegExp(`(${NUMBER})(${UNIT})`, 'g');

const PART = `(?:${Object.entries(DIGITS)
  .map(([unit, digits]) => `(?:0*\\d{1,${digits}}(?:\\.\\d*)?|\\.\\d+)${unit}`)
  .join('|')})`;

/** Syntax of a duration: up to eight parts, each a number and a unit. */
export const DURATION_PATTERN = `^${PART}{1,8}$`;
const form = new RegExp(DURATION_PATTERN);
const shortSegments = new RegExp(`^${PART}+$`);

/**
 * Parses a duration such as `2s`, `90us`, `1.5s` or `1h30m`.
 * @returns milliseconds, with a fraction below one; undefined if the text is not a duration, or is too long a duration.
 */
export function readDuration(text: string): number | undefined {
  if (!form.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(terms)) {
    const perMs = UNITS_A_MS[unit!];
    total += perMs === undefined ? Number(number) * UNIT_MS[unit!]! : Number(number) / perMs;
  }
  return total;
}

/** True for a text with the syntax of a duration in which a part is too long. */
export function isTooLong(text: string): boolean {
  return shape.test(text) && !shortSegments.test(text);
}

/**
 * Parses a duration such as `2s`, `90us`, `1.5s` or `1h30m`; a bare number is not valid.
 * @returns milliseconds, with a fraction below one.
 * @throws RangeError if the text is not a duration.
 */
export function parseDuration(text: string): number {
  const milliseconds = readDuration(text);
  if (milliseconds === undefined) {
    const reason = isTooLong(text) ? `longer than ${LONGEST_DURATION}` : 'not a duration such as "1500ms" or "2s"';
    throw new RangeError(`${JSON.stringify(text)} is ${reason}`);
  }
  return milliseconds;
}

/** Ordered from the longest unit to the shortest: the first unit that results in a whole number is used. */
const UNITS: readonly (readonly [name: string, milliseconds: number])[] = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];

/** Units below one millisecond are multiplied when printing, because parsing divides by them. */
const SHORT_UNITS: readonly (readonly [name: string, aMs: number])[] = [
  ['us', 1e3],
  ['ns', 1e6],
];
const HOUR_MS = 3_600_000;

/** Maximum hours in one part of a duration. */
const MOST_HOURS = 999_999;

/** Formats milliseconds as a duration for configurations, in a single unit if possible: `2s`, `1500ms`, `90us`. */
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
    SHORT_UNITS.find(([, aMs]) => Math.round(milliseconds * aMs) / aMs === milliseconds) ?? SHORT_UNITS.at(-1)!;
  return `${Math.round(milliseconds * aMs)}${name}`;
}
