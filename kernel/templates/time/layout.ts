import { type Clock, DAYS, MONTHS } from './zone.ts';

/** The elements of a layout, longest first; a fraction follows the seconds. */
export const LAYOUT_ELEMENT =
  /January|Jan|Monday|Mon|MST|2006|-07:00:00|-070000|-07:00|-0700|-07|Z07:00:00|Z070000|Z07:00|Z0700|Z07|002|01|02|03|04|05|06|15|PM|pm|__2|_2006|_2|[.,](?:0+|9+)(?!\d)|1|2|3|4|5/g;

const two = (number: number): string => String(number).padStart(2, '0');

/** Formatters of the layout elements. */
const writers: Readonly<Record<string, (clock: Clock) => string>> = {
  January: ({ month }) => MONTHS[month - 1]!,
  Jan: ({ month }) => MONTHS[month - 1]!.slice(0, 3),
  Monday: ({ weekday }) => DAYS[weekday]!,
  Mon: ({ weekday }) => DAYS[weekday]!.slice(0, 3),
  MST: ({ name, offset }) => name || `${offset < 0 ? '-' : '+'}${two(Math.trunc(Math.abs(offset) / 60))}`,
  '2006': ({ year }) => String(year).padStart(4, '0'),
  _2006: ({ year }) => `_${String(year).padStart(4, '0')}`,
  '06': ({ year }) => two(year % 100),
  '01': ({ month }) => two(month),
  '1': ({ month }) => String(month),
  '02': ({ day }) => two(day),
  _2: ({ day }) => String(day).padStart(2, ' '),
  '2': ({ day }) => String(day),
  '002': ({ yearDay }) => String(yearDay).padStart(3, '0'),
  __2: ({ yearDay }) => String(yearDay).padStart(3, ' '),
  '15': ({ hour }) => two(hour),
  '03': ({ hour }) => two(hour % 12 || 12),
  '3': ({ hour }) => String(hour % 12 || 12),
  '04': ({ minute }) => two(minute),
  '4': ({ minute }) => String(minute),
  '05': ({ second }) => two(second),
  '5': ({ second }) => String(second),
  PM: ({ hour }) => (hour < 12 ? 'AM' : 'PM'),
  pm: ({ hour }) => (hour < 12 ? 'am' : 'pm'),
};

/** A time as shown by the clocks of its zone. */
export interface Moment {
  readonly clock: Clock;
  /** Nanosecond within the second. */
  readonly nanosecond: number;
}

/** Formats a time with a Go layout, which shows the reference time, Mon Jan 2 15:04:05 MST 2006. */
export function formatTime({ clock, nanosecond }: Moment, layout: string): string {
  return layout.replace(LAYOUT_ELEMENT, (element) => {
    const writer = writers[element];
    if (writer) return writer(clock);
    return /^[.,]/.test(element) ? fraction(element, nanosecond) : zoneOffset(element, clock.offset);
  });
}

function fraction(element: string, nanosecond: number): string {
  const digits = String(nanosecond)
    .padStart(9, '0')
    .slice(0, element.length - 1)
    .padEnd(element.length - 1, '0');
  if (element[1] === '0') return element[0] + digits;
  const short = digits.replace(/0+$/, '');
  return short === '' ? '' : element[0] + short;
}

function zoneOffset(element: string, offset: number): string {
  if (element.startsWith('Z') && offset === 0) return 'Z';
  const sign = offset < 0 ? '-' : '+';
  const hours = two(Math.trunc(Math.abs(offset) / 60));
  const minutes = two(Math.abs(offset) % 60);
  const separator = element.includes(':') ? ':' : '';
  const isShort = element.length === 3;
  const seconds = /00$|:00:00$/.test(element) && element.length > 6 ? `${separator}00` : '';
  return `${sign}${hours}${isShort ? '' : separator + minutes}${seconds}`;
}
