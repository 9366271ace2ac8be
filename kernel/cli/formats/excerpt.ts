import type { Span } from './masks.ts';

/** A line of a file and its marked range, to be printed one above the other. */
export interface Excerpt {
  readonly source: string;
  /** Carets below the range. */
  readonly underline: string;
}

/** A text and a range in it, in UTF-16 code units from 0. */
interface Marked {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

const MASK = '***';

/** Maximum length of the shown part of a line, in UTF-16 code units, and how much of it precedes the range. */
const WINDOW = 100;
const LEAD = 40;

/**
 * Shows a line with its secrets masked and without terminal control characters; of a long line, the part around the
 * range.
 * @param mark columns from 0; at least one caret is drawn.
 */
export function excerpt(line: string, mark: Span, secrets: readonly Span[]): Excerpt {
  const surroundings = nearby(line, mark, secrets);
  const { text, from, to } = cut(surroundings.secrets.reduceRight(masked, surroundings), surroundings);
  let source = '';
  let before = 0;
  let below = 0;
  let at = 0;
  for (const character of text) {
    const shown = printable(character);
    const width = widthOf(shown);
    if (at < from) before += width;
    else if (at < to) below += width;
    source += shown;
    at += character.length;
  }
  return { source: source.trimEnd(), underline: ' '.repeat(before) + '^'.repeat(Math.max(below, 1)) };
}

/** A part of a line, large enough to cut the excerpt from it after its secrets are masked. */
interface Surroundings extends Marked {
  /** Positions of secrets in the text, from left to right, without overlaps. */
  readonly secrets: readonly Span[];
  readonly hasMoreBefore: boolean;
  readonly hasMoreBehind: boolean;
}

/** Number of code units examined on each side of the range's start, as a line can be as long as the file. */
const NEARBY = 1000;

function nearby(line: string, mark: Span, secrets: readonly Span[]): Surroundings {
  const from = Math.min(mark[0], line.length);
  const start = Math.max(0, from - NEARBY);
  const end = Math.min(line.length, from + NEARBY);
  const apart: Span[] = [];
  for (const [left, right] of secrets) {
    if (right <= start || left >= end) continue;
    const last = apart.at(-1);
    const span: Span = [Math.max(left, start) - start, Math.min(right, end) - start];
    if (last && span[0] < last[1]) apart[apart.length - 1] = [last[0], Math.max(last[1], span[1])];
    else apart.push(span);
  }
  return {
    text: line.slice(start, end),
    from: from - start,
    to: Math.min(mark[1], end) - start,
    secrets: apart,
    hasMoreBefore: start > 0,
    hasMoreBehind: end < line.length,
  };
}

function masked({ text, from, to }: Marked, [start, end]: Span): Marked {
  const moved = (column: number, inside: number): number => {
    if (column <= start) return column;
    return column < end ? start + inside : column - (end - start) + MASK.length;
  };
  return {
    text: text.slice(0, start) + MASK + text.slice(end),
    from: moved(from, 0),
    to: moved(to, MASK.length),
  };
}

function cut({ text, from, to }: Marked, { hasMoreBefore, hasMoreBehind }: Surroundings): Marked {
  let start = text.length <= WINDOW ? 0 : Math.max(0, Math.min(from - LEAD, text.length - WINDOW));
  let end = Math.min(start + WINDOW, text.length);
  if (isInsidePair(text, start)) start++;
  if (isInsidePair(text, end)) end--;
  const head = start > 0 || hasMoreBefore ? '…' : '';
  const tail = end < text.length || hasMoreBehind ? '…' : '';
  const shift = start - head.length;
  return { text: head + text.slice(start, end) + tail, from: from - shift, to: Math.min(to, end) - shift };
}

function isInsidePair(text: string, at: number): boolean {
  return /^[\udc00-\udfff]/.test(text.slice(at, at + 1)) && /[\ud800-\udbff]$/.test(text.slice(at - 1, at));
}

const TAB = '    ';
const control = /[\x00-\x1f\x7f]/g;
const invisible = /[\x80-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Makes text safe for a terminal: tabs become spaces, control characters their symbols. */
export function printable(text: string): string {
  return text
    .replaceAll('\t', TAB)
    .replaceAll(control, (match) => (match === '\x7f' ? '␡' : String.fromCharCode(0x2400 + match.charCodeAt(0))))
    .replaceAll(invisible, '\ufffd');
}

const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u;
const narrowest = /^[\p{Mn}\p{Me}\u200b-\u200d\ufeff]/u;

/** Number of terminal columns of a character. */
function widthOf(shown: string): number {
  if (shown === TAB) return TAB.length;
  return narrowest.test(shown) ? 0 : wide.test(shown) ? 2 : 1;
}
