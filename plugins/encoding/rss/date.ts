const iso =
  /^(\d{4})-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9})\d*)?)? ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?)?)?$/i;

const mail =
  /^(?:[a-z]+,? +)?(\d{1,2})[ -]([a-z]{3})[a-z]*[ -](\d{4}|\d\d)(?: +(\d{1,2}):(\d\d)(?::(\d\d))?(?: *([a-z]{1,4}|[+-]\d\d:?\d\d))?)?$/i;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Offsets of time zones from UTC, in hours. */
const zones: Readonly<Record<string, number>> = {
  z: 0,
  ut: 0,
  utc: 0,
  gmt: 0,
  wet: 0,
  bst: 1,
  cet: 1,
  cest: 2,
  eet: 2,
  eest: 3,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
};

/**
 * Converts a feed date to RFC 3339 in UTC. Accepts ISO 8601 and the format of mail and HTTP dates; a date without a
 * zone is taken as UTC.
 * @returns an empty string for anything else, including unknown zones and nonexistent days.
 */
export function parseDate(text: string): string {
  const date = text.replace(/\s+/g, ' ').trim();
  const fromIso = iso.exec(date);
  if (fromIso) {
    const [, year, month, day = '1', hour, minute, second, fraction, zone] = fromIso;
    return print(Number(year), Number(month) - 1, Number(day), [hour, minute, second], zone, fraction);
  }
  const fromMail = mail.exec(date);
  if (!fromMail) return '';
  const [, day, month, year, hour, minute, second, zone] = fromMail;
  return print(fullYear(year!), months.indexOf(month!.toLowerCase()), Number(day), [hour, minute, second], zone);
}

/** Two-digit years represent 1970 to 2069. */
function fullYear(text: string): number {
  const year = Number(text);
  if (text.length === 4) return year;
  return year < 70 ? 2000 + year : 1900 + year;
}

function print(
  year: number,
  month: number,
  day: number,
  time: readonly (string | undefined)[],
  zone = 'z',
  fraction = '',
): string {
  const [hour, minute, second] = time.map((segment) => Number(segment ?? 0)) as [number, number, number];
  const ahead = minutesAhead(zone);
  const midnight = new Date(Date.UTC(year, month, day));
  const exists = midnight.getUTCMonth() === month && midnight.getUTCDate() === day;
  if (!exists || ahead === null || hour > 23 || minute > 59 || second > 60) return '';
  midnight.setUTCMinutes(hour * 60 + minute - ahead, second);
  const digits = fraction.replace(/(?<!0)0+$/, '');
  return `${midnight.toISOString().slice(0, 19)}${digits === '' ? '' : `.${digits}`}Z`;
}

function minutesAhead(zone: string): number | null {
  const name = zone.toLowerCase();
  if (Object.hasOwn(zones, name)) return zones[name]! * 60;
  const offset = /^([+-])(\d\d):?(\d\d)$/.exec(zone);
  if (!offset) return null;
  const minutes = Number(offset[2]) * 60 + Number(offset[3]);
  return offset[1] === '-' ? -minutes : minutes;
}
