import type { Message } from './catalog.ts';

/** A time or duration in seconds and nanoseconds. */
export interface Moment {
  readonly seconds: bigint;
  readonly nanos: number;
}

const BILLION = 1_000_000_000n;
/** Range of timestamps in seconds since 1970: from the first second of year 1 to the last one of year 9999. */
const FIRST_SECOND = -62_135_596_800n;
const LAST_SECOND = 253_402_300_799n;
/** Longest duration: about ten thousand years. */
const LONGEST_SECONDS = 315_576_000_000n;

function momentOf(message: Message): Moment {
  return message as unknown as Moment;
}

/** Formats a timestamp in RFC 3339, in UTC, with as many fractional digits as needed: none, three, six or nine. */
export function formatTimestamp(message: Message): string {
  const { seconds, nanos } = momentOf(message);
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND || nanos < 0 || nanos > 999_999_999) return '';
  return new Date(Number(seconds) * 1000).toISOString().replace('.000Z', `${fractionOf(nanos)}Z`);
}

/** Formats a duration as seconds with an `s`, as in `3.5s`. */
export function formatDuration(message: Message): string {
  const { seconds, nanos } = momentOf(message);
  const sign = seconds < 0n || nanos < 0 ? '-' : '';
  return `${sign}${seconds < 0n ? -seconds : seconds}${fractionOf(Math.abs(nanos)).replace(/0+$/, '')}s`;
}

function fractionOf(nanos: number): string {
  if (nanos === 0) return '';
  const digits = String(nanos).padStart(9, '0');
  return `.${digits.replace(/(?:000){1,2}$/, '')}`;
}

/** @returns undefined unless the text is an RFC 3339 time from year 1 to 9999. */
export function parseTimestamp(text: string): Moment | undefined {
  const [, date, fraction = '', zone] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(text) ?? [];
  if (date === undefined) return undefined;
  const ms = Date.parse(`${date.toUpperCase()}${zone!.toUpperCase()}`);
  // Nonexistent dates, such as February 30, are rejected, because the parser would change them to a day of the next
  // month.
  if (Number.isNaN(ms) || !isDate(date)) return undefined;
  const seconds = BigInt(ms / 1000);
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) return undefined;
  return { seconds, nanos: Number(fraction.padEnd(9, '0')) };
}

function isDate(text: string): boolean {
  const ms = Date.parse(`${text.toUpperCase()}Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.toUpperCase());
}

const units: Readonly<Record<string, bigint>> = {
  h: 3600n * BILLION,
  m: 60n * BILLION,
  s: BILLION,
  ms: 1_000_000n,
  us: 1000n,
  µs: 1000n,
  ns: 1n,
};

/** Parses a duration such as `3.5s` or `1h2m3.5s`. @returns undefined unless the text is a duration of at most ten thousand years. */
export function parseDuration(text: string): Moment | undefined {
  const [, sign, rest] = /^(-?)((?:\d{1,15}(?:\.\d{1,9})?(?:h|ms|m|s|us|µs|ns))+)$/.exec(text) ?? [];
  if (rest === undefined) return undefined;
  let total = 0n;
  for (const [, whole, fraction = '', unit] of rest.matchAll(/(\d+)(?:\.(\d+))?(h|ms|m|s|us|µs|ns)/g)) {
    const size = units[unit!]!;
    total += BigInt(whole!) * size + (BigInt(fraction.padEnd(9, '0')) * size) / BILLION;
  }
  return sign === '-' ? momentOfNanos(-total) : momentOfNanos(total);
}

function momentOfNanos(total: bigint): Moment | undefined {
  const seconds = total / BILLION;
  if (seconds > LONGEST_SECONDS || seconds < -LONGEST_SECONDS) return undefined;
  return { seconds, nanos: Number(total % BILLION) };
}
