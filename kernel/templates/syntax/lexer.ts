import { type Source, syntaxError } from '../source.ts';
import { readNumber } from './number-literal.ts';
import { readCharacter, readQuoted } from './text-literal.ts';

/** A token of a template: text outside the braces; words, literals and signs inside them. */
export type Token = { readonly at: number; readonly end: number } & (
  | { readonly kind: 'text' | 'field' | 'variable' | 'word'; readonly text: string }
  | { readonly kind: 'literal'; readonly value: string | number | bigint }
  | { readonly kind: Sign | 'open' | 'close' | 'space' | 'end' }
);

/** Signs of the language; `:=` declares a variable, `=` assigns to one. */
export type Sign = '(' | ')' | '|' | ',' | ':=' | '=';

export type TokenKind = Token['kind'];

const SPACE = /[ \t\r\n]+/y;
const WORD = /[\p{L}\p{Nd}_]+/uy;
const FIELD = /\.[\p{L}\p{Nd}_]*/uy;
const VARIABLE = /\$[\p{L}\p{Nd}_]*/uy;
const NUMBER = /[+-]?(?:\d|\.\d)(?:[eE][+-]\d|[pP][+-]\d|[\w.])*/y;
const RAW = /`[^`]*`/y;
const QUOTED = /"(?:[^"\\\n]|\\[^\n])*"/y;
const CHARACTER = /'(?:[^'\\\n]|\\[^\n])+'/y;
const CLOSE = /(?:[ \t\r\n]+-)?\}\}/y;
const COMMENT = /\/\*[\s\S]*?\*\//y;
const SIGN = /:=|[()|,=]/y;
/** Characters that may follow a word, a number, a field or a variable. */
const TERMINATOR = /[ \t\r\n.,|:=()]|-?\}\}|$/y;

/**
 * Splits a template into tokens. White space inside braces is a token, because it separates arguments.
 * @throws TemplateError for an invalid token or comment, or an unclosed `{{`.
 */
export function readTokens(source: Source): Token[] {
  return new Lexer(source).read();
}

class Lexer {
  readonly #source: Source;
  readonly #text: string;
  readonly #tokens: Token[] = [];
  #at = 0;

  constructor(source: Source) {
    this.#source = source;
    this.#text = source.text;
  }

  read(): Token[] {
    let trimsLeft = false;
    for (;;) {
      const open = this.#text.indexOf('{{', this.#at);
      const trimsRight = open >= 0 && /^-[ \t\r\n]/.test(this.#text.slice(open + 2, open + 4));
      this.#addText(open < 0 ? this.#text.length : open, trimsLeft, trimsRight);
      if (open < 0) break;
      this.#at = open + (trimsRight ? 3 : 2);
      trimsLeft = this.#skipComment(open) ?? this.#readAction(open);
    }
    this.#tokens.push({ kind: 'end', at: this.#text.length, end: this.#text.length });
    return this.#tokens;
  }

  #addText(end: number, trimsLeft: boolean, trimsRight: boolean): void {
    let at = this.#at;
    let until = end;
    if (trimsLeft) while (at < until && isSpace(this.#text, at)) at++;
    if (trimsRight) while (until > at && isSpace(this.#text, until - 1)) until--;
    if (at < until) this.#tokens.push({ kind: 'text', text: this.#text.slice(at, until), at, end: until });
  }

  /** @returns undefined without a comment; otherwise true if it trims the white space that follows. */
  #skipComment(open: number): boolean | undefined {
    const start = this.#text[this.#at - 1] === '-' ? this.#at + 1 : this.#at;
    if (!this.#text.startsWith('/*', start)) return undefined;
    const comment = this.#match(COMMENT, start);
    if (comment === undefined) throw this.#fault(open, 'the comment is never closed');
    const close = this.#match(CLOSE, start + comment.length);
    if (close === undefined) throw this.#fault(start + comment.length, 'a comment must end right before the }}');
    this.#at = start + comment.length + close.length;
    return close.length > 2;
  }

  /** @returns true if the action trims the white space that follows. */
  #readAction(open: number): boolean {
    this.#tokens.push({ kind: 'open', at: open, end: this.#at });
    for (;;) {
      const at = this.#at;
      const close = this.#match(CLOSE, at);
      if (close !== undefined) {
        this.#at += close.length;
        this.#tokens.push({ kind: 'close', at, end: this.#at });
        return close.length > 2;
      }
      if (at >= this.#text.length) throw this.#fault(open, 'the action is never closed: }} is missing');
      this.#readToken(at);
    }
  }

  #readToken(at: number): void {
    const take = (pattern: RegExp): string | undefined => {
      const match = this.#match(pattern, at);
      if (match !== undefined) this.#at = at + match.length;
      return match;
    };
    const add = (token: Token): void => void this.#tokens.push(token);
    const sign = this.#text[at]!;
    const span = () => ({ at, end: this.#at });
    if (take(SPACE)) return add({ kind: 'space', ...span() });
    if (sign === '"') return add({ kind: 'literal', value: this.#quoted(at, take(QUOTED)), ...span() });
    if (sign === '`') return add({ kind: 'literal', value: this.#raw(at, take(RAW)), ...span() });
    if (sign === "'") return add({ kind: 'literal', value: this.#character(at, take(CHARACTER)), ...span() });
    const number = take(NUMBER);
    if (number !== undefined) return add({ kind: 'literal', value: this.#number(at, number), ...span() });
    const mark = take(SIGN);
    if (mark !== undefined) return add({ kind: mark as Sign, ...span() });
    const word = take(WORD);
    if (word !== undefined) return this.#named({ kind: 'word', text: word, ...span() });
    const variable = take(VARIABLE);
    if (variable !== undefined) return this.#named({ kind: 'variable', text: variable, ...span() });
    const field = take(FIELD);
    if (field !== undefined) return this.#named({ kind: 'field', text: field.slice(1), ...span() });
    throw this.#fault(at, `unexpected ${JSON.stringify(String.fromCodePoint(this.#text.codePointAt(at)!))}`);
  }

  #named(token: Token): void {
    if (this.#match(TERMINATOR, this.#at) === undefined) {
      throw this.#fault(this.#at, `unexpected ${JSON.stringify(this.#text[this.#at])}`);
    }
    this.#tokens.push(token);
  }

  #quoted(at: number, written: string | undefined): string {
    if (written === undefined) throw this.#fault(at, 'the quoted string is never closed');
    return readQuoted(written) ?? this.#throw(at, `not a string: ${written}`);
  }

  #raw(at: number, written: string | undefined): string {
    if (written === undefined) throw this.#fault(at, 'the raw string is never closed');
    return written.slice(1, -1);
  }

  #character(at: number, written: string | undefined): bigint {
    if (written === undefined) throw this.#fault(at, 'the character is never closed');
    return readCharacter(written) ?? this.#throw(at, `not a character: ${written}`);
  }

  #number(at: number, written: string): number | bigint {
    return readNumber(written) ?? this.#throw(at, `not a number: ${written}`);
  }

  #match(pattern: RegExp, at: number): string | undefined {
    pattern.lastIndex = at;
    return pattern.exec(this.#text)?.[0];
  }

  #fault(at: number, reason: string): Error {
    return syntaxError(this.#source, at, reason);
  }

  #throw(at: number, reason: string): never {
    throw this.#fault(at, reason);
  }
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 32 || (code >= 9 && code <= 13 && code !== 11 && code !== 12);
}
