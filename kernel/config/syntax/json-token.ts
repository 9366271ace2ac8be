import type { TextRange } from './position.ts';
import { templateAt } from './template.ts';
import { syntaxFault, type TextFault } from './text-format.ts';

/**
 * A piece of a JSON text; `kind` is its first character where that tells all, `word` for the rest, `end` behind all,
 * `template` for `{{ … }}`.
 */
export interface Token extends TextRange {
  readonly kind: '{' | '}' | '[' | ']' | ',' | ':' | '"' | 'word' | 'comment' | 'template' | 'end';
}

const trivia = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[^*]*(?:\*+[^*/][^*]*)*\*+\/)*/y;
const string = /"[^"\\\n\r]*(?:\\[^\n\r][^"\\\n\r]*)*"?/y;
const word = /[^ \t\r\n{}[\],:"]+/y;

/** The token behind an offset. A comment is one only when it is never closed. */
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

/** All that an operator who forgot the quotes may have meant by the word that begins here. */
export function wordRange(text: string, start: number, isKey: boolean): TextRange {
  const end = Math.max(endOf(quoted, text, start), endOf(isKey ? bareKey : bareValue, text, start));
  const meant = text.slice(start, end).replace(/\s+\/[/*].*$/, '');
  return { start, end: start + Math.max(meant.trimEnd().length, 1) };
}

function endOf(sticky: RegExp, text: string, start: number): number {
  sticky.lastIndex = start;
  return start + (sticky.exec(text)?.[0].length ?? 0);
}

/** A word that is a value of JSON. */
export const literal = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

const QUOTES = 'write it between double quotes: "..."';

/** What may have been meant by a word that is no value, first hit first; a hint that is a value is what to write. */
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

/** What is wrong with a word where a value should be; it may be a secret and is not repeated. */
export function badWord(text: string, range: TextRange): TextFault {
  const written = text.slice(range.start, range.end);
  const [, message, hint] = misspelled.find(([pattern]) => pattern.test(written)) ?? [
    null,
    'not valid JSON',
    `a string? ${QUOTES}`,
  ];
  const [, content] = otherQuotes.exec(written) ?? [];
  const quoted = content === undefined ? undefined : JSON.stringify(content);
  return syntaxFault(message, range, hint, literal.test(hint) ? hint : quoted);
}

/** A key that is not written as a string. */
export function badKey(text: string, range: TextRange): TextFault {
  const name = JSON.stringify(text.slice(range.start, range.end).replaceAll(/^['‘’“”`]+|['‘’“”`]+$/g, ''));
  return syntaxFault('keys must be in double quotes', range, name, plainKey.test(name) ? name : undefined);
}

/** A text in quotes that are not those of JSON, with nothing in it that could mean something else. */
const otherQuotes = /^['‘’“”]([^'"\\‘’“”`]*)['‘’“”]$/;
const plainKey = /^"[\w@$#./-]+"$/;

const escapes = /\\(?:u[\da-fA-F]{4}|["\\/bfnrt])|\\u[\da-fA-F]{0,3}|\\[\s\S]|[\x00-\x1f]/g;
const goodEscape = /^\\(?:u[\da-fA-F]{4}|["\\/bfnrt])$/;

/** True when the quote that opens a string is closed on its line. */
export function isClosedString(text: string, { start, end }: TextRange): boolean {
  return /(?:^|[^\\])(?:\\\\)*"$/.test(text.slice(start + 1, end));
}

/** What is wrong inside a string; undefined for a good one. */
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

/** What comes behind a place of a JSON text, up to the bracket that closes what it stands in. */
export interface Ahead {
  /** That bracket, or the end; undefined when it is too far away. */
  readonly closer: Token | undefined;
  /** True when a key stands before it, brackets in between not looked into. */
  readonly hasKeys: boolean;
}

/** So many tokens are looked at: guesses must not make reading slow. */
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
