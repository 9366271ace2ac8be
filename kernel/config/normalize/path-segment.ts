/** One segment of a declared path. */
export interface PathSegment {
  /** Fixed text before, between and after the variables: one more than there are variables. */
  readonly texts: readonly string[];
  /** Names of the variables, in order. */
  readonly names: readonly string[];
}

const noNames: readonly string[] = Object.freeze([]);

/** Cache of parsed segments with variables: thousands of paths share a few. At most about 300 KiB. */
const parsed = new Map<string, PathSegment>();
const MOST_PARSED = 1000;

export function parseSegment(segment: string): PathSegment {
  if (!segment.includes('{')) return { texts: [segment], names: noNames };
  const known = parsed.get(segment);
  if (known) return known;
  const pieces = segment.split(/\{([^{}]*)\}/);
  const result = {
    texts: pieces.filter((_piece, at) => at % 2 === 0),
    names: pieces.filter((_piece, at) => at % 2 === 1),
  };
  if (parsed.size >= MOST_PARSED) parsed.clear();
  parsed.set(segment, result);
  return result;
}

/**
 * Extracts the values of a segment's variables from a request; undefined if it does not match. Values are never empty.
 * Each value except the last ends where the text after it first begins, so a segment can be read in only one way.
 *
 * @param texts as declared; `value` must be in the same letter case.
 */
export function readSegment(texts: readonly string[], value: string): string[] | undefined {
  const last = texts.length - 1;
  if (last === 0) return texts[0] === value ? [] : undefined;
  if (!value.startsWith(texts[0]!) || !value.endsWith(texts[last]!)) return undefined;
  const values: string[] = [];
  let start = texts[0]!.length;
  for (let at = 1; at <= last; at++) {
    const end = at === last ? value.length - texts[last]!.length : value.indexOf(texts[at]!, start);
    if (end <= start) return undefined;
    values.push(value.slice(start, end));
    start = end + texts[at]!.length;
  }
  return values;
}
