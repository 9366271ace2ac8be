const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** Units below the millisecond are divided, not multiplied, so that round values stay exact. */
const UNITS_A_MS: Readonly<Record<string, number>> = { ns: 1e6, us: 1e3, '\u00b5s': 1e3, '\u03bcs': 1e3 };

/** The longest part of a duration, about 114 years. */
export const LONGEST_DURATION = '999999h';

/** Digits before the point in each unit, leading zeros not counted; any number with more of them is longer than that. */
const DIGITS = { ns: 19, us: 16, '\u00b5s': 16, '\u03bcs': 16, ms: 13, s: 10, m: 8, h: 6 } as const;

const UNIT = `(?:${Object.keys(DIGITS).join('|')})`;
const NUMBER = '(?:\\d+(?:\\.\\d*)?|\\.\\d+)';
const shape = new RegExp(`^(?:${NUMBER}${UNIT})+$`);
const parts = new RegExp(`(${NUMBER})(${UNIT})`, 'g');

const PART = `(?:${Object.entries(DIGITS)
  .map(([unit, digits]) => `(?:0*\\d{1,${digits}}(?:\\.\\d*)?|\\.\\d+)${unit}`)
  .join('|')})`;

/** What a duration is written like: up to eight parts, each a number and a unit. */
export const DURATION_PATTERN = `^${PART}{1,8}$`;
const form = new RegExp(DURATION_PATTERN);
const shortParts = new RegExp(`^${PART}+$`);

/**
 * Reads a duration such as `2s`, `90us`, `1.5s` or `1h30m`.
 * @returns milliseconds, with a fraction below one; undefined when the text is no duration, or too long a one.
 */
export function readDuration(text: string): number | undefined {
  if (!form.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(parts)) {
    const perMs = UNITS_A_MS[unit!];
    total += perMs === undefined ? Number(number) * UNIT_MS[unit!]! : Number(number) / perMs;
  }
  return total;
}

/** True for a text that is written as a duration is, with a part that is too long. */
export function isTooLong(text: string): boolean {
  return shape.test(text) && !shortParts.test(text);
}

/**
 * Reads a duration such as `2s`, `90us`, `1.5s` or `1h30m`; a bare number is none.
 * @returns milliseconds, with a fraction below one.
 * @throws RangeError when the text is no duration.
 */
export function parseDuration(text: string): number {
  const milliseconds = readDuration(text);
  if (milliseconds === undefined) {
    const reason = isTooLong(text) ? `longer than ${LONGEST_DURATION}` : 'not a duration such as "1500ms" or "2s"';
    throw new RangeError(`${JSON.stringify(text)} is ${reason}`);
  }
  return milliseconds;
}
