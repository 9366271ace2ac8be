/** Formats a time, given in milliseconds since 1970. */
export type PrintTime = (timeMs: number) => string;

/** Named layouts, by lower-case name. */
const namedLayouts: ReadonlyMap<string, string> = new Map([
  ['ansic', 'Mon Jan _2 15:04:05 2006'],
  ['unixdate', 'Mon Jan _2 15:04:05 MST 2006'],
  ['rubydate', 'Mon Jan 02 15:04:05 -0700 2006'],
  ['rfc822', '02 Jan 06 15:04 MST'],
  ['rfc822z', '02 Jan 06 15:04 -0700'],
  ['rfc850', 'Monday, 02-Jan-06 15:04:05 MST'],
  ['rfc1123', 'Mon, 02 Jan 2006 15:04:05 MST'],
  ['rfc1123z', 'Mon, 02 Jan 2006 15:04:05 -0700'],
  ['rfc3339', '2006-01-02T15:04:05Z07:00'],
  ['rfc3339milli', '2006-01-02T15:04:05.000Z07:00'],
  ['rfc3339nano', '2006-01-02T15:04:05.999999999Z07:00'],
  ['kitchen', '3:04PM'],
  ['stamp', 'Jan _2 15:04:05'],
  ['stampmilli', 'Jan _2 15:04:05.000'],
]);

const elements =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|__2|_2(?!006)|002|01|02|03|04|05|06|15|[1-5]|PM|pm|(Z|-)07(?::00:00|:00|0000|00)?|[.,](?:0+|9+)(?!\d)/g;

const months = 'January February March April May June July August September October November December'.split(' ');
const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** A time in its zone. The UTC getters of `at` return the local time of the zone. */
interface Moment {
  readonly at: Date;
  readonly offsetMinutes: number;
  readonly zone: string;
}

type Print = (moment: Moment) => string;

/**
 * Compiles a Go time layout, or the name of one: `2006 01 02 15 04 05 .000 MST -07:00` and their variants are replaced
 * by components of the time; other text is printed as is. Components that change only with the second are computed once
 * per second.
 * @param utc prints UTC instead of local time.
 */
export function compileLayout(layout: string, utc = false): PrintTime {
  const prints: (string | Print)[] = [];
  /** Positions in `prints` of fractions of a second, which are recomputed for each line. */
  const fractions: { readonly at: number; readonly print: PrintTime }[] = [];
  const text = namedLayouts.get(layout.toLowerCase()) ?? layout;
  let end = 0;
  for (const match of text.matchAll(elements)) {
    if (match.index > end) prints.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[0].startsWith('.') || match[0].startsWith(',')) {
      fractions.push({ at: prints.length, print: fraction(match[0]) });
      prints.push('');
    } else {
      prints.push(elementOf(match[0]));
    }
  }
  prints.push(text.slice(end));

  let second = Number.NaN;
  let made: string[] = [];
  let whole = '';
  return (timeMs) => {
    const current = Math.floor(timeMs / 1000);
    if (current !== second) {
      second = current;
      const moment = takeApart(timeMs, utc);
      made = prints.map((print) => (typeof print === 'string' ? print : print(moment)));
      whole = made.join('');
    }
    if (fractions.length === 0) return whole;
    for (const { at, print } of fractions) made[at] = print(timeMs);
    return made.join('');
  };
}

function takeApart(timeMs: number, utc: boolean): Moment {
  const offsetMinutes = utc ? 0 : -new Date(timeMs).getTimezoneOffset();
  return {
    at: new Date(timeMs + offsetMinutes * 60_000),
    offsetMinutes,
    zone: utc ? 'UTC' : zoneName(timeMs),
  };
}

const zoneFormat = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' });

function zoneName(timeMs: number): string {
  return zoneFormat.formatToParts(timeMs).find((piece) => piece.type === 'timeZoneName')?.value ?? 'UTC';
}

/** In a layout, `.000` prints every digit, and `.999` omits trailing zeros. */
function fraction(element: string): PrintTime {
  const mark = element.charAt(0);
  const digits = element.length - 1;
  const trimmed = element.charAt(1) === '9';
  return (timeMs) => {
    const nanos = Math.round((timeMs - Math.floor(timeMs / 1000) * 1000) * 1e6);
    const text = String(nanos).padStart(9, '0').padEnd(digits, '0').slice(0, digits);
    if (!trimmed) return mark + text;
    const kept = text.replace(/0+$/, '');
    return kept === '' ? '' : mark + kept;
  };
}

function elementOf(element: string): Print {
  if (element.startsWith('Z') || element.startsWith('-')) return zoneOffset(element);
  return fixedElements[element]!;
}

const hour12 = (at: Date): number => at.getUTCHours() % 12 || 12;
const dayOfYear = (at: Date): number =>
  Math.floor((at.getTime() - Date.UTC(at.getUTCFullYear(), 0, 1)) / 86_400_000) + 1;

const fixedElements: Readonly<Record<string, Print>> = {
  January: ({ at }) => months[at.getUTCMonth()]!,
  Jan: ({ at }) => months[at.getUTCMonth()]!.slice(0, 3),
  Monday: ({ at }) => days[at.getUTCDay()]!,
  Mon: ({ at }) => days[at.getUTCDay()]!.slice(0, 3),
  MST: ({ zone }) => zone,
  '2006': ({ at }) => padded(at.getUTCFullYear(), 4),
  '06': ({ at }) => padded(at.getUTCFullYear() % 100, 2),
  '01': ({ at }) => padded(at.getUTCMonth() + 1, 2),
  '1': ({ at }) => String(at.getUTCMonth() + 1),
  '02': ({ at }) => padded(at.getUTCDate(), 2),
  _2: ({ at }) => String(at.getUTCDate()).padStart(2),
  '2': ({ at }) => String(at.getUTCDate()),
  '002': ({ at }) => padded(dayOfYear(at), 3),
  __2: ({ at }) => String(dayOfYear(at)).padStart(3),
  '15': ({ at }) => padded(at.getUTCHours(), 2),
  '03': ({ at }) => padded(hour12(at), 2),
  '3': ({ at }) => String(hour12(at)),
  '04': ({ at }) => padded(at.getUTCMinutes(), 2),
  '4': ({ at }) => String(at.getUTCMinutes()),
  '05': ({ at }) => padded(at.getUTCSeconds(), 2),
  '5': ({ at }) => String(at.getUTCSeconds()),
  PM: ({ at }) => (at.getUTCHours() < 12 ? 'AM' : 'PM'),
  pm: ({ at }) => (at.getUTCHours() < 12 ? 'am' : 'pm'),
};

/** In a layout, `-07:00` always prints an offset; with `Z` in place of the sign, UTC is printed as `Z`. */
function zoneOffset(element: string): Print {
  const zulu = element.startsWith('Z');
  const colon = element.includes(':') ? ':' : '';
  const hasMinutes = element.length > 3;
  const hasSeconds = element.length > 6;
  return ({ offsetMinutes }) => {
    if (zulu && offsetMinutes === 0) return 'Z';
    const minutes = Math.abs(offsetMinutes);
    let text = (offsetMinutes < 0 ? '-' : '+') + padded(Math.floor(minutes / 60), 2);
    if (hasMinutes) text += colon + padded(minutes % 60, 2);
    if (hasSeconds) text += `${colon}00`;
    return text;
  };
}

function padded(number: number, width: number): string {
  return String(number).padStart(width, '0');
}
