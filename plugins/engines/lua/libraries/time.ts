import { currentBudget, MAX_STRING_BYTES } from '../budget.ts';
import { type LuaFunction, type LuaState, lauxlib, lua, pushText, raise, textArg } from '../fengari.ts';

const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
const months = 'January February March April May June July August September October November December'.split(' ');

/** Parts of a time, in UTC or in the time zone of the process. */
interface Moment {
  readonly year: number;
  /** Counted from 0. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Day of the week, from 0 for Sunday. */
  readonly weekday: number;
  /** Counted from 0. */
  readonly dayOfYear: number;
  /** Offset from UTC in minutes, positive to the east. */
  readonly offset: number;
  readonly zone: string;
}

const two = (value: number): string => String(value).padStart(2, '0');
const twelve = ({ hour }: Moment): number => hour % 12 || 12;

/** The conversions of C in the C locale. */
const conversions: Readonly<Record<string, (moment: Moment) => string>> = {
  a: ({ weekday }) => days[weekday]!.slice(0, 3),
  A: ({ weekday }) => days[weekday]!,
  b: ({ month }) => months[month]!.slice(0, 3),
  B: ({ month }) => months[month]!,
  c: (moment) => written('%a %b %e %H:%M:%S %Y', moment),
  d: ({ day }) => two(day),
  D: (moment) => written('%m/%d/%y', moment),
  e: ({ day }) => String(day).padStart(2),
  F: (moment) => written('%Y-%m-%d', moment),
  H: ({ hour }) => two(hour),
  I: (moment) => two(twelve(moment)),
  j: ({ dayOfYear }) => String(dayOfYear + 1).padStart(3, '0'),
  m: ({ month }) => two(month + 1),
  M: ({ minute }) => two(minute),
  p: ({ hour }) => (hour < 12 ? 'AM' : 'PM'),
  R: (moment) => written('%H:%M', moment),
  S: ({ second }) => two(second),
  T: (moment) => written('%H:%M:%S', moment),
  U: ({ dayOfYear, weekday }) => two(Math.floor((dayOfYear + 7 - weekday) / 7)),
  w: ({ weekday }) => String(weekday),
  W: ({ dayOfYear, weekday }) => two(Math.floor((dayOfYear + 7 - ((weekday + 6) % 7)) / 7)),
  x: (moment) => written('%m/%d/%y', moment),
  X: (moment) => written('%H:%M:%S', moment),
  y: ({ year }) => two(((year % 100) + 100) % 100),
  Y: ({ year }) => String(year),
  z: ({ offset }) => `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}${two(Math.abs(offset) % 60)}`,
  Z: ({ zone }) => zone,
  '%': () => '%',
};

function written(format: string, moment: Moment): string {
  return format.replace(/%([\s\S])/g, (_, letter: string) => conversions[letter]!(moment));
}

/**
 * `os.date` for strings; a leading `!` selects UTC.
 * @param dateTable the engine's function, which creates the tables of `*t`.
 */
export function date(dateTable: LuaFunction): LuaFunction {
  return (L) => {
    const text = lua.lua_type(L, 1) <= 0 ? '%c' : textArg(L, 1);
    const isUtc = text.startsWith('!');
    const format = isUtc ? text.slice(1) : text;
    if (format.startsWith('*t')) return dateTable(L);
    for (const [conversion, letter = ''] of format.matchAll(/%([\s\S]?)/g)) {
      if (Object.hasOwn(conversions, letter)) continue;
      raise(L, `bad argument #1 to 'date' (invalid conversion specifier '${conversion}')`);
    }
    const moment = momentOf(L, isUtc);
    // The longest conversion produces twelve times its own length.
    if (format.length * 12 > MAX_STRING_BYTES) {
      currentBudget()!.stop(`a string of more than ${MAX_STRING_BYTES} bytes`);
    }
    pushText(L, written(format, moment));
    return 1;
  };
}

function momentOf(L: LuaState, isUtc: boolean): Moment {
  const at = lua.lua_type(L, 2) <= 0 ? Date.now() : lauxlib.luaL_checkinteger(L, 2) * 1000;
  const local = new Date(at);
  if (Number.isNaN(local.getTime())) raise(L, 'no time');
  const offset = isUtc ? 0 : -local.getTimezoneOffset();
  const shown = new Date(at + offset * 60_000);
  const year = shown.getUTCFullYear();
  return {
    year,
    month: shown.getUTCMonth(),
    day: shown.getUTCDate(),
    hour: shown.getUTCHours(),
    minute: shown.getUTCMinutes(),
    second: shown.getUTCSeconds(),
    weekday: shown.getUTCDay(),
    dayOfYear: Math.floor((shown.getTime() - new Date(shown).setUTCMonth(0, 1)) / 86_400_000),
    offset,
    zone: isUtc ? 'GMT' : zoneOf(local),
  };
}

/** Abbreviation of the time zone, such as `CET`. */
function zoneOf(at: Date): string {
  const segments = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' }).formatToParts(at);
  return segments.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}
