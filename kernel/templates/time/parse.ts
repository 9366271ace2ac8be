import { LAYOUT_ELEMENT } from './layout.ts';
import { Time } from './time.ts';
import { clockAt, DAYS, MONTHS, offsetAt } from './zone.ts';

/** Pattern of each layout element in a text. */
const readers: Readonly<Record<string, string>> = {
  January: MONTHS.join('|'),
  Jan: MONTHS.map((name) => name.slice(0, 3)).join('|'),
  Monday: DAYS.join('|'),
  Mon: DAYS.map((name) => name.slice(0, 3)).join('|'),
  MST: '[A-Z]{3,5}|[+-]\\d\\d',
  '2006': '\\d{4}',
  '06': '\\d{2}',
  '01': '\\d{2}',
  '1': '\\d{1,2}',
  '02': '\\d{2}',
  _2: ' ?\\d{1,2}',
  '2': '\\d{1,2}',
  '002': '\\d{3}',
  '15': '\\d{2}',
  '03': '\\d{2}',
  '3': '\\d{1,2}',
  '04': '\\d{2}',
  '4': '\\d{1,2}',
  '05': '\\d{2}(?:[.,]\\d+)?',
  '5': '\\d{1,2}(?:[.,]\\d+)?',
  PM: 'AM|PM',
  pm: 'am|pm',
};

/** Maximum length of a layout and of a text. */
const LONGEST = 200;

/** Maximum number of elements in a layout. No date has more, and matching more takes too long. */
const MAX_ELEMENTS = 16;

/** Parses a time with a layout. @param zone used if the text does not name one. @returns undefined if the text does not match. */
export function parseTime(layout: string, text: string, zone: string): Time | undefined {
  const elements: string[] = [];
  if (layout.length > LONGEST) return undefined;
  let pattern = '';
  let end = 0;
  for (const match of layout.matchAll(LAYOUT_ELEMENT)) {
    elements.push(match[0]);
    pattern += `${literal(layout.slice(end, match.index))}(${readers[match[0]] ?? offsetPattern(match[0])})`;
    end = match.index + match[0].length;
  }
  if (elements.length > MAX_ELEMENTS || text.length > LONGEST) return undefined;
  const match = new RegExp(`^${pattern}${literal(layout.slice(end))}$`, 'i').exec(text);
  if (!match) return undefined;
  const values = new Map(elements.map((element, index) => [element, match[index + 1]!.trim()]));
  return timeOf(values, zone);
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

function offsetPattern(element: string): string {
  if (/^[.,]/.test(element)) return element[1] === '0' ? `[.,]\\d{${element.length - 1}}` : '(?:[.,]\\d+)?';
  const digits = element.includes(':') ? '\\d\\d:\\d\\d' : element.length === 3 ? '\\d\\d' : '\\d{4}';
  return element.startsWith('Z') ? `Z|[+-]${digits}` : `[+-]${digits}`;
}

function timeOf(values: ReadonlyMap<string, string>, zone: string): Time | undefined {
  const number = (...elements: readonly string[]): number | undefined => {
    const element = elements.find((name) => values.has(name));
    return element === undefined ? undefined : Number.parseFloat(values.get(element)!.replace(',', '.'));
  };
  const short = number('06');
  const year = number('2006') ?? (short === undefined ? 0 : short + (short >= 69 ? 1900 : 2000));
  const month = monthOf(values) ?? number('01', '1') ?? 1;
  const day = number('02', '_2', '2') ?? 1;
  const half = (values.get('PM') ?? values.get('pm'))?.toUpperCase();
  const clockHour = number('03', '3');
  const hour = number('15') ?? (clockHour === undefined ? 0 : (clockHour % 12) + (half === 'PM' ? 12 : 0));
  const minute = number('04', '4') ?? 0;
  const second = number('05', '5') ?? 0;
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month) || hour > 23 || minute > 59 || second >= 60) {
    return undefined;
  }
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, Math.floor(second));
  const nanoseconds = Math.round((second % 1) * 1e9) + fractionOf(values);
  const offset = writtenOffset(values);
  const local = date.getTime();
  const milliseconds = offset === undefined ? local - localOffset(local, zone) * 60_000 : local - offset * 60_000;
  return new Time(milliseconds, offset === undefined ? zone : offset === 0 ? 'UTC' : offset).plus(BigInt(nanoseconds));
}

function fractionOf(values: ReadonlyMap<string, string>): number {
  const written = [...values].find(([element]) => /^[.,]/.test(element))?.[1];
  return written ? Math.round(Number(`0.${written.slice(1)}`) * 1e9) : 0;
}

function monthOf(values: ReadonlyMap<string, string>): number | undefined {
  const name = (values.get('January') ?? values.get('Jan'))?.slice(0, 3).toLowerCase();
  return name === undefined ? undefined : MONTHS.findIndex((month) => month.toLowerCase().startsWith(name)) + 1;
}

function daysOf(year: number, month: number): number {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

/** Offset in minutes; undefined if the text has none. */
function writtenOffset(values: ReadonlyMap<string, string>): number | undefined {
  const written = [...values].find(([element]) => /^Z?-?07/.test(element))?.[1];
  if (written === undefined) return values.get('MST') === 'UTC' ? 0 : undefined;
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?/.exec(written) ?? [];
  return sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** Offset of a zone at a local time, in minutes. */
function localOffset(local: number, zone: string): number {
  const first = offsetAt(local, zone);
  return clockAt(local - first * 60_000, zone).offset;
}
