import { Failure } from '../budget.ts';
import { type Functions, fn } from '../function.ts';
import { parseGoDuration, showDuration } from '../time/duration.ts';
import { formatTime } from '../time/layout.ts';
import { parseTime } from '../time/parse.ts';
import { Time } from '../time/time.ts';
import { isZone } from '../time/zone.ts';
import { describe, integerOf, numberOf, type Value } from '../value.ts';

const NANOSECONDS = 1_000_000_000n;

const dateInZone = fn('string any string', (layout, date, zone) =>
  formatTime(timeOf(date).in(isZone(zone) ? zone : 'UTC'), layout),
);

const dateModify = fn('string any', (text, date) => {
  const nanoseconds = parseGoDuration(text);
  const time = demandTime(date);
  return nanoseconds === undefined ? time : time.plus(nanoseconds);
});

const mustDateModify = fn('string any', (text, date) => {
  const nanoseconds = parseGoDuration(text);
  if (nanoseconds === undefined) throw new Failure(`not a duration: ${JSON.stringify(text)}`);
  return demandTime(date).plus(nanoseconds);
});

/** Date functions: accept a time, or seconds since 1970; any other value means now. */
export const dateFunctions: Functions = {
  now: fn('', () => new Time(Date.now())),
  date: fn('string any', (layout, date) => formatTime(timeOf(date).in('Local'), layout)),
  dateInZone,
  date_in_zone: dateInZone,
  htmlDate: fn('any', (date) => formatTime(timeOf(date).in('Local'), '2006-01-02')),
  htmlDateInZone: fn('any string', (date, zone) =>
    formatTime(timeOf(date).in(isZone(zone) ? zone : 'UTC'), '2006-01-02'),
  ),
  dateModify,
  date_modify: dateModify,
  mustDateModify,
  must_date_modify: mustDateModify,
  ago: fn('any', (date) =>
    showDuration(BigInt(Math.round((Date.now() - timeOf(date).milliseconds) / 1000)) * NANOSECONDS),
  ),
  duration: fn('any', (value) => showDuration(secondsOf(value) * NANOSECONDS)),
  durationRound: fn('any', (value) => rounded(durationOf(value))),
  toDate: fn('string string', (layout, text) => parseTime(layout, text, 'Local') ?? ZERO),
  mustToDate: fn('string string', (layout, text) => {
    const time = parseTime(layout, text, 'Local');
    if (!time) throw new Failure(`${JSON.stringify(text)} does not match the date layout ${JSON.stringify(layout)}`);
    return time;
  }),
  unixEpoch: fn('any', (date) => String(demandTime(date).seconds)),
};

/** Go's zero time. */
const ZERO = new Time(Date.parse('0001-01-01T00:00:00Z'), 'UTC');

function timeOf(value: Value): Time {
  if (value instanceof Time) return value;
  const seconds = integerOf(value) ?? numberOf(value);
  return new Time(seconds === undefined ? Date.now() : Number(seconds) * 1000);
}

function demandTime(value: Value): Time {
  if (value instanceof Time) return value;
  throw new Failure(`the date must be a time, found ${describe(value)}`);
}

function secondsOf(value: Value): bigint {
  if (typeof value === 'string') return /^[-+]?\d{1,18}$/.test(value) ? BigInt(value.replace('+', '')) : 0n;
  return integerOf(value) ?? BigInt(Math.trunc(numberOf(value) ?? 0));
}

/** Converts a value to a duration in nanoseconds. */
function durationOf(value: Value): bigint {
  if (typeof value === 'string') return parseGoDuration(value) ?? 0n;
  if (value instanceof Time) return BigInt(Date.now() - value.milliseconds) * 1_000_000n;
  return integerOf(value) ?? 0n;
}

const DAY = 24n * 3600n * NANOSECONDS;

const UNITS: readonly (readonly [unit: bigint, name: string])[] = [
  [365n * DAY, 'y'],
  [30n * DAY, 'mo'],
  [DAY, 'd'],
  [3600n * NANOSECONDS, 'h'],
  [60n * NANOSECONDS, 'm'],
  [NANOSECONDS, 's'],
];

/** Rounds down to the largest unit that is smaller than the duration. */
function rounded(nanoseconds: bigint): string {
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const [unit, name] = UNITS.find(([length]) => size > length) ?? [];
  return unit === undefined ? '0s' : `${size / unit}${name}`;
}
