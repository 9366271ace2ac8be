/**
 * Formats local time to the second, `yyyy/mm/dd hh:mm:ss`, with the given text between date and time. The text of the
 * current second is cached, because there are many lines per second.
 */
export function secondStamp(between: string): (timeMs: number) => string {
  let second = Number.NaN;
  let text = '';
  return (timeMs) => {
    const current = Math.floor(timeMs / 1000);
    if (current !== second) {
      second = current;
      const at = new Date(timeMs);
      text =
        `${at.getFullYear()}/${two(at.getMonth() + 1)}/${two(at.getDate())}${between}` +
        `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
    }
    return text;
  };
}

function two(number: number): string {
  return number < 10 ? `0${number}` : `${number}`;
}

/**
 * Formats a duration in the largest unit that keeps it at one or more, as in `4.529µs`, `12.5ms`, `1.2s`. Beyond one
 * minute, whole seconds are kept, as in `1m3s`.
 */
export function printDuration(durationMs: number): string {
  const ns = Math.round(durationMs * 1e6);
  if (ns < 1e3) return ns > 0 ? `${ns}ns` : '0s';
  if (ns < 1e6) return `${ns / 1e3}µs`;
  if (ns < 1e9) return `${ns / 1e6}ms`;
  if (ns < 60e9) return `${ns / 1e9}s`;
  const seconds = Math.floor(ns / 1e9);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds % 60}s`;
}
