export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;

export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

/** Local time and date in a zone. */
export interface Clock {
  readonly year: number;
  /** Month, from 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Sunday is 0. */
  readonly weekday: number;
  /** Day of the year, from 1. */
  readonly yearDay: number;
  /** Minutes east of Greenwich. */
  readonly offset: number;
  /** Short name of the zone, such as `CET`; empty if it has none. */
  readonly name: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Maximum number of cached zones. Each takes about 10 KiB. */
const KEPT = 50;

/** @throws RangeError for an unknown zone. */
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset', year: 'numeric' });
    if (formats.size >= KEPT) formats.delete(formats.keys().next().value!);
    formats.set(zone, format);
  }
  return format;
}

/** True if a time zone of this name exists, including `Local` and `UTC`. */
export function isZone(zone: string): boolean {
  if (zone === 'Local' || zone === 'UTC' || zone === '') return true;
  if (!/^[A-Za-z]/.test(zone) || zone.length > 60) return false;
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** Local time of a zone at a point in time. @param zone a name, or an offset in minutes. */
export function clockAt(milliseconds: number, zone: string | number): Clock {
  const offset = typeof zone === 'number' ? zone : offsetAt(milliseconds, zone);
  const date = new Date(milliseconds + offset * 60_000);
  const start = Date.UTC(date.getUTCFullYear(), 0, 1);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    weekday: date.getUTCDay(),
    yearDay: Math.floor((date.getTime() - start) / 86_400_000) + 1,
    offset,
    name: nameAt(milliseconds, zone, offset),
  };
}

/** Offset of a zone at a point in time, in minutes. */
export function offsetAt(milliseconds: number, zone: string): number {
  if (zone === 'UTC' || zone === '') return 0;
  if (zone === 'Local') return -new Date(milliseconds).getTimezoneOffset();
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(formatOf(zone).format(milliseconds)) ?? [];
  return sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function nameAt(milliseconds: number, zone: string | number, offset: number): string {
  if (zone === 'UTC' || zone === '') return 'UTC';
  if (typeof zone === 'number') return offset === 0 ? 'UTC' : '';
  const timeZone = zone === 'Local' ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone;
  if (timeZone === 'UTC') return 'UTC';
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'short' });
  const name = format.formatToParts(milliseconds).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return europeanName(timeZone, name, offset);
}

/** Zone names that are not used in American English. */
function europeanName(zone: string, name: string, offset: number): string {
  if (!zone.startsWith('Europe/') || !/^GMT[+-]/.test(name)) return name;
  const isSummer = new Date(Date.UTC(2020, 0, 1)) && offset !== offsetAt(Date.UTC(2020, 0, 1), zone);
  const names: Readonly<Record<number, readonly [winter: string, summer: string]>> = {
    0: ['WET', 'BST'],
    60: ['CET', 'WEST'],
    120: ['EET', 'CEST'],
    180: ['MSK', 'EEST'],
  };
  return names[offset]?.[Number(isSummer)] ?? name;
}
