import type { TextRange } from '../syntax/position.ts';

/** Finds credentials within text of any language, such as Lua sources, GraphQL queries and templates. */

/** Prefixes by which issuers mark their tokens, each with the minimum length of the rest of a token. */
const marked = [
  /gh[oprsu]_[A-Za-z0-9]{30,}/,
  /github_pat_\w{30,}/,
  /glpat-[\w-]{20,}/,
  /(?:sk|rk)_(?:live|test)_\w{16,}/,
  /sk-(?=[\w-]*\d)[\w-]{20,}/,
  /xox[abeoprs]-[\w-]{10,}/,
  /A(?:KIA|SIA)[A-Z0-9]{16}/,
  /AIza[\w-]{35}/,
  /ya29\.[\w-]{20,}/,
  /hvs\.[\w-]{20,}/,
  /npm_[A-Za-z0-9]{30,}/,
  /SG\.[\w-]{16,}\.[\w-]{16,}/,
  /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/,
]
  .map(({ source }) => source)
  .join('|');

const token = new RegExp(`(?<![\\w-])(?:${marked})`, 'g');
/** Credentials after the name of their scheme. They must contain a digit, which distinguishes them from words. */
const scheme = /(?<!\w)(?:Bearer|Basic)[ \t]{1,4}((?=[\w.~+/=-]*\d)[\w.~+/=-]{12,})/dgi;
/** A quoted value with letters and digits, assigned to, compared with, or following a name that indicates a secret. */
const assigned =
  /(?<![\w-])[\w-]{0,64}?(?:password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key)\\?["'\]]{0,2}\s{0,4}(?:[=~]?=|=>|:|,)\s{0,4}\\?(["'])((?=[^"'\s]*\d)(?=[^"'\s]*[a-z])[^"'\\\s${}]{8,512})\\?\1/dgi;

/** Ranges of all credentials in a text; they can overlap. */
export function tokensIn(text: string): TextRange[] {
  if (text.length < 12) return [];
  return [
    ...Array.from(text.matchAll(token), ({ 0: all, index }) => ({ start: index, end: index + all.length })),
    ...Array.from(text.matchAll(scheme), (match) => rangeOf(match, 1)),
    ...Array.from(text.matchAll(assigned), (match) => rangeOf(match, 2)),
  ].sort((one, other) => one.start - other.start);
}

function rangeOf({ indices }: RegExpExecArray, group: number): TextRange {
  const [start, end] = indices![group]!;
  return { start, end };
}

/** Replaces all credentials in a text. */
export function maskTokens(text: string, mask: string): string {
  let masked = '';
  let from = 0;
  for (const { start, end } of tokensIn(text)) {
    if (end <= from) continue;
    masked += text.slice(from, Math.max(start, from)) + mask;
    from = end;
  }
  return masked + text.slice(from);
}
