import type { HeaderBag } from '#contract';

/** Value of a cookie; empty without it. @param start name and equals sign. */
export function cookieOf(headers: HeaderBag, start: string): string {
  for (const line of headers.getAll('cookie')) {
    for (const pair of line.split(';')) {
      const trimmed = pair.trim();
      if (trimmed.startsWith(start)) return trimmed.slice(start.length).replace(/^"(.*)"$/, '$1');
    }
  }
  return '';
}
