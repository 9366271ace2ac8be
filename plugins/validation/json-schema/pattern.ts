/**
 * Compiles a pattern as operators write it for RE2 or for ECMAScript: unanchored, by code points. Leading flags
 * (`(?i)`, `(?s)`, `(?m)`), `(?P<name>`, `\A`, `\z`, `\Q…\E`, `\pL`, POSIX classes, escapes that need none and literal
 * braces are understood.
 *
 * @throws SyntaxError for what neither dialect has.
 */
export function compilePattern(source: string): RegExp {
  const flags = /^\(\?([ims]+)\)/.exec(source);
  const rest = flags ? source.slice(flags[0].length) : source;
  const own = flags ? [...new Set(flags[1])].join('') : '';
  const pattern = translate(rest);
  try {
    return new RegExp(pattern, own + 'u');
  } catch (error) {
    if (/\\[pP]\{|\\u\{/.test(pattern)) throw error;
    return new RegExp(pattern, own);
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

/** The same pattern in the strict syntax that ECMAScript asks for with the flag `u`. */
function translate(source: string): string {
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
    out += whole ? whole[0] : rewrite(groups, text, inClass);
    at += (whole ? whole[0] : text).length;
    if (inClass ? groups['close'] : groups['open']) inClass = !inClass;
  }
  return out;
}

function rewrite(groups: Record<string, string | undefined>, text: string, inClass: boolean): string {
  const { literal, property, noProperty, escaped, group, brace, open, posix } = groups;
  if (literal !== undefined) return literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  if (property) return `\\p{${property}}`;
  if (noProperty) return `\\P{${noProperty}}`;
  if (group) return `(?<${group}>`;
  if (brace) return '\\' + brace;
  if (posix !== undefined) {
    const characters = Object.hasOwn(posixClasses, posix) ? posixClasses[posix] : undefined;
    if (characters === undefined) throw new SyntaxError(`unknown character class ${text}`);
    return characters;
  }
  if (escaped !== undefined) return rewriteEscape(escaped, inClass);
  // A bracket that comes first in a class is one of its characters.
  if (open !== undefined) return inClass ? '\\[' : open.endsWith(']') ? open.slice(0, -1) + '\\]' : open;
  return text;
}

function rewriteEscape(character: string, inClass: boolean): string {
  if (character === 'A' && !inClass) return '^';
  if (character === 'z' && !inClass) return '$';
  if (character === 'a') return '\\x07';
  if (/[\w^$\\.*+?()[\]{}|/]/.test(character) && character !== '_') {
    if (/[A-Za-z]/.test(character) && !/[bBcdDfknprsStuvwWxP]/.test(character)) {
      throw new SyntaxError(`unknown escape \\${character}`);
    }
    return '\\' + character;
  }
  return inClass && character === '-' ? '\\-' : character;
}
