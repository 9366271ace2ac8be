import type { TextRange } from './position.ts';

/** Syntax of one kind of string literal. */
export interface LiteralStyle {
  /** Number of characters of the opening delimiter. */
  readonly open: number;
  /** Number of characters of the closing delimiter. */
  readonly close: number;
  /** Sticky pattern of escape sequences. A match with a line break has an empty value. */
  readonly escape?: RegExp;
  /** `flow`: line breaks become spaces; `block`: indentation is removed from every line. Default: line breaks are literal. */
  readonly breaks?: 'flow' | 'block';
}

/** A piece of a literal: its length in the source and the length of its value. */
interface Unit {
  readonly source: number;
  readonly value: number;
}

/**
 * Maps a range of a string's value to the literal it was written as.
 * @param range in UTF-16 units of the value.
 * @returns offsets in the source of the literal.
 */
export function withinLiteral(source: string, value: string, style: LiteralStyle, range: TextRange): TextRange {
  const limit = source.length - style.close;
  let at = style.open;
  let start: number | undefined;
  let end = at;
  for (let done = 0; at < limit; ) {
    const unit = unitAt(source, at, value, done, style);
    if (unit.value > 0) {
      if (done >= range.end) break;
      if (start === undefined && done + unit.value > range.start) start = at;
      end = at + unit.source;
    }
    at += unit.source;
    done += unit.value;
  }
  return start === undefined ? { start: at, end: at } : { start, end };
}

const SELF: Unit = { source: 1, value: 1 };
const lineBreak = /[ \t]*\r?\n[ \t\r\n]*/y;
const whiteSpace = /[ \t\n]*/y;

function unitAt(source: string, at: number, value: string, done: number, style: LiteralStyle): Unit {
  const escaped = style.escape && matchAt(style.escape, source, at);
  if (escaped) {
    const isLong = /^\\U/.test(escaped) && (value.codePointAt(done) ?? 0) > 0xffff;
    return { source: escaped.length, value: escaped.includes('\n') ? 0 : isLong ? 2 : 1 };
  }
  const folded = style.breaks && matchAt(lineBreak, source, at);
  if (!folded) return SELF;
  if (style.breaks === 'block') return { source: folded.length, value: matchAt(whiteSpace, value, done)?.length ?? 0 };
  return { source: folded.length, value: Math.max(1, folded.split('\n').length - 2) };
}

function matchAt(sticky: RegExp, text: string, at: number): string | undefined {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0];
}
