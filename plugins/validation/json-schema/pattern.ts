import { type PatternFault, patternFault } from '#contract';

/** A pattern that cannot be used; the message is a clause for the operator. */
export class PatternError extends SyntaxError {
  /** Where in the pattern, when that is known. */
  readonly within: PatternFault['within'];

  constructor({ message, within }: PatternFault, cause?: unknown) {
    super(message, { cause });
    this.within = within;
  }
}

/**
 * Compiles a pattern as operators write it for RE2 or for ECMAScript: unanchored, by code points. Leading flags
 * (`(?i)`, `(?s)`, `(?m)`), `(?P<name>`, `\A`, `\z`, `\Q…\E`, `\pL`, POSIX classes, escapes that need none and literal
 * braces are understood.
 *
 * @throws PatternError for what neither dialect has.
 */
export function compilePattern(source: string): RegExp {
  const flags = /^\(\?([ims]+)\)/.exec(source);
  const rest = flags ? source.slice(flags[0].length) : source;
  const own = flags ? [...new Set(flags[1])].join('') : '';
  const pattern = translate(rest, source.length - rest.length);
  try {
    return strict(pattern, own);
  } catch (error) {
    throw new PatternError(patternFault(source, error), error);
  }
}

function strict(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags + 'u');
  } catch (error) {
    if (/\\[pP]\{|\\u\{/.test(pattern)) throw error;
    return new RegExp(pattern, flags);
  }
}

const posixClasses: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t ',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
};

/** Pieces of a pattern outside a class, longest first. */
const piece =
  /\\Q(?<literal>[\s\S]*?)(?:\\E|$)|\\p(?<property>[A-Z])|\\P(?<noProperty>[A-Z])|\\(?<escaped>[\s\S])|\(\?P<(?<group>\w+)>|(?<quantifier>\{\d+(?:,\d*)?\})|(?<brace>[{}\]])|(?<open>\[\^?\]?)/gy;
const classPiece =
  /\[:(?<posix>\w+):\]|\\p(?<property>[A-Z])|\\P(?<noProperty>[A-Z])|\\(?<escaped>[\s\S])|(?<open>\[)|(?<close>\])/gy;

/** The same pattern in the strict syntax that ECMAScript asks for with the flag `u`. @param start where it starts. */
function translate(source: string, start: number): string {
  let out = '';
  let inClass = false;
  for (let at = 0; at < source.length; ) {
    const grammar = inClass ? classPiece : piece;
    grammar.lastIndex = at;
    const match = grammar.exec(source);
    if (!match) {
      out += source[at];
      at += 1;
      continue;
    }
    const groups = match.groups!;
    const text = match[0];
    // \p{…}, \u{…} and \k<…> carry their own braces: they pass as they stand.
    const braced = /\\(?:[pPu]\{[^}]*\}|k<\w+>)/y;
    braced.lastIndex = at;
    const whole = groups['escaped'] === undefined ? null : braced.exec(source);
    const written = whole?.[0] ?? rewrite(groups, text, inClass);
    if (written === null) {
      const message = `${text} is not known to regular expressions here`;
      throw new PatternError({ message, within: { start: start + at, end: start + at + text.length } });
    }
    out += written;
    at += (whole ? whole[0] : text).length;
    if (inClass ? groups['close'] : groups['open']) inClass = !inClass;
  }
  return out;
}

/** @returns null for what neither dialect has. */
function rewrite(groups: Record<string, string | undefined>, text: string, inClass: boolean): string | null {
  const { literal, property, noProperty, escaped, group, brace, open, posix } = groups;
  if (literal !== undefined) return literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  if (property) return `\\p{${property}}`;
  if (noProperty) return `\\P{${noProperty}}`;
  if (group) return `(?<${group}>`;
  if (brace) return '\\' + brace;
  if (posix !== undefined) {
    return Object.hasOwn(posixClasses, posix) ? posixClasses[posix]! : null;
  }
  if (escaped !== undefined) return rewriteEscape(escaped, inClass);
  // A bracket that comes first in a class is one of its characters.
  if (open !== undefined) return inClass ? '\\[' : open.endsWith(']') ? open.slice(0, -1) + '\\]' : open;
  return text;
}

function rewriteEscape(character: string, inClass: boolean): string | null {
  if (character === 'A' && !inClass) return '^';
  if (character === 'z' && !inClass) return '$';
  if (character === 'a') return '\\x07';
  if (/[\w^$\\.*+?()[\]{}|/]/.test(character) && character !== '_') {
    if (/[A-Za-z]/.test(character) && !/[bBcdDfknprsStuvwWxP]/.test(character)) {
      return null;
    }
    return '\\' + character;
  }
  return inClass && character === '-' ? '\\-' : character;
}
