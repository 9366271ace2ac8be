import type { TextRange } from '../position.ts';
import { templateAt } from '../template.ts';
import { syntaxFault, type TextFault } from '../text-format.ts';

/**
 * A token of a JSON text; `kind` is its first character if that identifies it, otherwise `word`, `end` at the end of
 * the text, or `template` for `{{ … }}`.
 */
export interface Token extends TextRange {
  readonly kind: '{' | '}' | '[' | ']' | ',' | ':' | '"' | 'word' | 'comment' | 'template' | 'end';
}

const trivia = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[^*]*(?:\*+[^*/][^*]*)*\*+\/)*/y;
const string = /"[^"\\\n\r]*(?:\\[^\n\r][^"\\\n\r]*)*"?/y;
const word = /[^ \t\r\n{}[\],:"]+/y;

/** The token after an offset. A comment is a token only if it is never closed. */
export function tokenAt(text: string, offset: number): Token {
  const start = endOf(trivia, text, offset);
  const first = text[start];
  if (first === undefined) return { kind: 'end', start, end: start };
  if (first === '"') return { kind: '"', start, end: endOf(string, text, start) };
  if (text.startsWith('/*', start)) return { kind: 'comment', start, end: text.length };
  const template = first === '{' && templateAt(text, start);
  if (template) return { kind: 'template', ...template };
  if ('{}[],:'.includes(first)) return { kind: first as Token['kind'], start, end: start + 1 };
  return { kind: 'word', start, end: endOf(word, text, start) };
}

const quoted = /(['‘’“”`])[^\n\r'‘’“”`]*['‘’“”`]?/y;
const bareKey = /[^\n\r,{}[\]":]+/y;
const bareValue = /[^\n\r,{}[\]"]+/y;

/** Range of an unquoted word: everything that may have been meant as the string that starts here. */
export function wordRange(text: string, start: number, isKey: boolean): TextRange {
  const end = Math.max(endOf(quoted, text, start), endOf(isKey ? bareKey : bareValue, text, start));
  const meant = text.slice(start, end).replace(/\s+\/[/*].*$/, '');
  return { start, end: start + Math.max(meant.trimEnd().length, 1) };
}

function endOf(sticky: RegExp, text: string, start: number): number {
  sticky.lastIndex = start;
  return start + (sticky.exec(text)?.[0].length ?? 0);
}

/** A word that is a valid JSON value. */
export const literal = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

/** Likely meanings of an invalid word, tried in order; a hint that is a JSON value is the replacement. */
const misspelled: readonly (readonly [pattern: RegExp, message: string, hint: string])[] = [
  [/^['`]/, 'strings must be in double quotes', 'write " instead of the single quote'],
  [/^[‘’“”]/, 'typographic quotes are not valid JSON', 'write " instead'],
  [/^(?:true|yes|on)$/i, 'not valid JSON', 'true'],
  [/^(?:false|no|off)$/i, 'not valid JSON', 'false'],
  [/^(?:null|none|nil|undefined)$/i, 'not valid JSON', 'null'],
  [/^[+-]?(?:nan|infinity|inf)$/i, 'JSON has no such number', 'write a finite number'],
  [/^[+-]?0x[\da-f]+$/i, 'numbers must be decimal', 'write it without 0x'],
  [/^\+\.?\d/, 'a number must not begin with +', 'remove the +'],
  [/^-?0\d+$/, 'a number must not begin with zeros', 'remove the zeros'],
  [/^-?\.\d/, 'a number must begin with a digit', 'write 0 before the dot'],
  [/^-?\d+\.$/, 'digits are missing after the dot', 'remove the dot'],
  [/^-?[\d.]+e[+-]?$/i, 'digits are missing after the exponent', 'remove the e'],
];

/** Error for an invalid word in place of a value; the word may be a secret and is not repeated. */
export function badWord(text: string, range: TextRange): TextFault {
  const written = text.slice(range.start, range.end);
  const [, message, hint] = misspelled.find(([pattern]) => pattern.test(written)) ?? [
    null,
    'not valid JSON',
    'write a string between double quotes: "..."',
  ];
  const [, content] = otherQuotes.exec(written) ?? [];
  const quoted = content === undefined ? undefined : JSON.stringify(content);
  return syntaxFault(message, range, hint, literal.test(hint) ? hint : quoted);
}

/** Error for a key that is not a string. */
export function badKey(text: string, range: TextRange): TextFault {
  const name = JSON.stringify(text.slice(range.start, range.end).replaceAll(/^['‘’“”`]+|['‘’“”`]+$/g, ''));
  return syntaxFault('keys must be in double quotes', range, name, plainKey.test(name) ? name : undefined);
}

/** A text in quotes other than JSON's, without characters that could make its meaning ambiguous. */
const otherQuotes = /^['‘’“”]([^'"\\‘’“”`]*)['‘’“”]$/;
const plainKey = /^"[\w@$#./-]+"$/;

const escapes = /\\(?:u[\da-fA-F]{4}|["\\/bfnrt])|\\u[\da-fA-F]{0,3}|\\[\s\S]|[\x00-\x1f]/g;
const goodEscape = /^\\(?:u[\da-fA-F]{4}|["\\/bfnrt])$/;

/** True if the string is closed on the same line. */
export function isClosedString(text: string, { start, end }: TextRange): boolean {
  return /(?:^|[^\\])(?:\\\\)*"$/.test(text.slice(start + 1, end));
}

/** Error inside a string; undefined if the string is valid. */
export function badString(text: string, token: Token): TextFault | undefined {
  const written = text.slice(token.start, token.end);
  if (!isClosedString(text, token)) return syntaxFault('this string has no closing quote', token, 'end it with "');
  for (const { 0: sequence, index } of written.matchAll(escapes)) {
    if (goodEscape.test(sequence)) continue;
    const start = token.start + index;
    const range = { start, end: start + sequence.length };
    if (sequence.startsWith('\\u')) return syntaxFault('four hexadecimal digits are missing after \\u', range);
    if (sequence.startsWith('\\'))
      return syntaxFault(`'${sequence}' is not a valid escape in JSON`, range, `\\${sequence}`);
    return syntaxFault('strings cannot contain control characters', range, escapedControl(sequence));
  }
  return undefined;
}

function escapedControl(character: string): string {
  return JSON.stringify(character).slice(1, -1);
}

/** Upcoming tokens, up to the bracket that closes the current object or list. */
export interface Ahead {
  /** The closing bracket, or the end of the text; undefined if it is too far away. */
  readonly closer: Token | undefined;
  /** True if a key precedes `closer`, ignoring the content of nested brackets. */
  readonly hasKeys: boolean;
}

/** Maximum number of tokens to look ahead: guesses must not slow down parsing. */
const REACH = 200;

/** Looks ahead from an offset. */
export function lookAhead(text: string, offset: number): Ahead {
  let depth = 0;
  let hasKeys = false;
  let token = tokenAt(text, offset);
  for (let seen = 0; seen < REACH; seen++) {
    const { kind } = token;
    if (kind === 'end') return { closer: token, hasKeys };
    if (kind === '{' || kind === '[') depth++;
    else if (kind === '}' || kind === ']') {
      if (depth === 0) return { closer: token, hasKeys };
      depth--;
    } else if (kind === ':' && depth === 0) hasKeys = true;
    token = tokenAt(text, token.end);
  }
  return { closer: undefined, hasKeys };
}
