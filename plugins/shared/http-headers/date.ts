const day = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const month = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const time = '[0-2]\\d:[0-5]\\d:[0-6]\\d';

/** Current format: `Sun, 06 Nov 1994 08:49:37 GMT`. */
const fixed = new RegExp(`^${day}, [0-3]\\d ${month} \\d{4} ${time} GMT$`, 'i');
/** Obsolete formats: `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. */
const dashed = new RegExp(`^[a-z]{6,9}, ([0-3]\\d)-(${month})-(\\d\\d) (${time}) GMT$`, 'i');
const unzoned = new RegExp(`^${day} ${month} [ 0-3]\\d ${time} \\d{4}$`, 'i');

/** Parses an HTTP date to milliseconds since 1970; NaN for any other text. */
export function httpDate(text: string | undefined): number {
  if (text === undefined) return Number.NaN;
  const written = text.trim();
  if (fixed.test(written)) return Date.parse(written);
  if (unzoned.test(written)) return Date.parse(`${written} GMT`);
  const [, dayOfMonth, monthName, year, clock] = dashed.exec(written) ?? [];
  if (year === undefined) return Number.NaN;
  const inCentury = (century: number) =>
    Date.parse(`${dayOfMonth} ${monthName} ${century + Number(year)} ${clock} GMT`);
  const near = inCentury(2000);
  // Moves a two-digit year that would be more than fifty years ahead to the previous century.
  return near > Date.now() + 50 * 365.25 * 86_400_000 ? inCentury(1900) : near;
}
