import { type Source, syntaxError } from '../source.ts';
import type { Token, TokenKind } from './lexer.ts';

/** Reads the tokens of a template in order. */
export class TokenReader {
  readonly source: Source;
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(source: Source, tokens: readonly Token[]) {
    this.source = source;
    this.#tokens = tokens;
  }

  peek(): Token {
    return this.#tokens[this.#next]!;
  }

  next(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.#next++;
    return token;
  }

  /** The next token other than white space; not consumed. */
  peekSolid(): Token {
    this.skipSpace();
    return this.peek();
  }

  nextSolid(): Token {
    this.skipSpace();
    return this.next();
  }

  skipSpace(): void {
    while (this.peek().kind === 'space') this.#next++;
  }

  /** Consumes the next token other than white space if it is of this kind. @returns true if it was. */
  take(kind: TokenKind): boolean {
    if (this.peekSolid().kind !== kind) return false;
    this.#next++;
    return true;
  }

  /** Returns the current position, to which the reader can be reset. */
  get mark(): number {
    return this.#next;
  }

  back(mark: number): void {
    this.#next = mark;
  }

  fault(at: number, reason: string): Error {
    return syntaxError(this.source, at, reason);
  }

  /** @param where name of the context in the message, as in `unexpected "x" in if`. */
  unexpected(token: Token, where: string): Error {
    if (token.kind === 'end') return this.fault(token.at, `the template ends inside ${where}`);
    const written = this.source.text.slice(token.at, token.end);
    return this.fault(token.at, `unexpected ${JSON.stringify(written)} in ${where}`);
  }
}
