import { applyEdits, format, type ParseError, parseTree } from 'jsonc-parser';

/** Adds line breaks to a JSON text; numbers and strings stay as they are written. Other text is returned unchanged. */
export function prettyJson(text: string): string {
  const errors: ParseError[] = [];
  parseTree(text, errors);
  if (errors.length > 0) return text;
  return applyEdits(text, format(text, undefined, { insertSpaces: true, tabSize: 2 }));
}

/** A number with at most three significant digits and a unit prefix, as in `12.3 k`. */
export function compact(value: number): string {
  const [size, prefix] = value >= 1e9 ? [1e9, ' G'] : value >= 1e6 ? [1e6, ' M'] : value >= 1e4 ? [1e3, ' k'] : [1, ''];
  const scaled = value / size;
  return `${scaled >= 100 || Number.isInteger(scaled) ? Math.round(scaled) : scaled.toPrecision(3)}${prefix}`;
}

/** A duration with its unit, as in `3.2 ms`; a dash for null. */
export function milliseconds(value: number | null): string {
  if (value === null) return '–';
  if (value < 1) return `${Math.round(value * 1000)} µs`;
  if (value < 1000) return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
  return duration(value);
}

/** A longer duration, as in `2 h 5 min`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** A size in memory, as in `98 MiB`. */
export function bytes(value: number): string {
  if (value >= 2 ** 30) return `${(value / 2 ** 30).toFixed(1)} GiB`;
  if (value >= 2 ** 20) return `${Math.round(value / 2 ** 20)} MiB`;
  return `${Math.round(value / 1024)} KiB`;
}

/** A share, as in `1.2 %`. */
export function percent(share: number): string {
  if (share > 0 && share < 0.001) return '< 0.1 %';
  return `${(share * 100).toFixed(share < 0.1 && share > 0 ? 1 : 0)} %`;
}

/** A time in the zone of the reader. @param at ISO 8601 text, or milliseconds since 1970. */
export function time(at: string | number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString() : date.toLocaleString();
}

/** `1 request`, `2 requests`. */
export function count(value: number, noun: string): string {
  return `${compact(value)} ${noun}${value === 1 ? '' : 's'}`;
}
