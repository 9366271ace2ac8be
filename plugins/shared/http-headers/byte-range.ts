/** Byte range from `start` (inclusive) to `end` (exclusive). */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header for a resource of a given length: a span, `none` if the range cannot be satisfied, or `whole`
 * for several ranges, units other than bytes, and invalid values.
 */
export function spanOf(range: string, length: number): Span | 'whole' | 'none' {
  const [, first = '', last = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(range) ?? [];
  if (first === '' && last === '') return 'whole';
  if (first === '') {
    const suffix = Number(last);
    if (suffix === 0) return 'none';
    return length === 0 ? 'whole' : { start: Math.max(length - suffix, 0), end: length };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= length) return 'none';
  return { start, end: last === '' ? length : Math.min(Number(last) + 1, length) };
}
