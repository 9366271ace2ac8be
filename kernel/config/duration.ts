const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** Units below the millisecond are divided, not multiplied, so that round values stay exact. */
const UNITS_A_MS: Readonly<Record<string, number>> = { ns: 1e6, us: 1e3, '\u00b5s': 1e3, '\u03bcs': 1e3 };

const UNIT = '(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h)';
const NUMBER = '(?:\\d+(?:\\.\\d*)?|\\.\\d+)';
const whole = new RegExp(`^(?:${NUMBER}${UNIT})+$`);
const parts = new RegExp(`(${NUMBER})(${UNIT})`, 'g');

/** Longest duration: what 64 bits of nanoseconds hold, about 292 years. */
const MAX_MS = 9_223_372_036_854;
/** The same in whole hours. */
export const LONGEST_DURATION = '2562047h';

/** The strict form, one number and one unit, for editors and linting. */
export const DURATION_PATTERN = `^[0-9]+${UNIT.replace('?:', '')}$`;

/**
 * Reads a duration such as `2s`, `90us`, `1.5s` or `1h30m`.
 * @returns milliseconds, with a fraction below one; undefined when the text is no duration, or a longer one than any.
 */
export function readDuration(text: string): number | undefined {
  const total = sumOf(text);
  return total !== undefined && total <= MAX_MS ? total : undefined;
}

/** True for a text that is written as a duration is, and is longer than any can be. */
export function isTooLong(text: string): boolean {
  return (sumOf(text) ?? 0) > MAX_MS;
}

function sumOf(text: string): number | undefined {
  if (!whole.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(parts)) {
    const perMs = UNITS_A_MS[unit!];
    total += perMs === undefined ? Number(number) * UNIT_MS[unit!]! : Number(number) / perMs;
  }
  return total;
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
