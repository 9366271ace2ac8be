import type { Token, TokenKind } from './lexer.ts';
import { type Source, syntaxError } from './source.ts';

/** The tokens of a template, one after another. */
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

  /** Behind white space. */
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

  /** True when the next token that is no white space is of this kind; it is taken then. */
  take(kind: TokenKind): boolean {
    if (this.peekSolid().kind !== kind) return false;
    this.#next++;
    return true;
  }

  /** A place to come back to. */
  get mark(): number {
    return this.#next;
  }

  back(mark: number): void {
    this.#next = mark;
  }

  fault(at: number, reason: string): Error {
    return syntaxError(this.source, at, reason);
  }

  /** @param where as in `unexpected "x" in if`. */
  unexpected(token: Token, where: string): Error {
    if (token.kind === 'end') return this.fault(token.at, `the template ends inside ${where}`);
    const written = this.source.text.slice(token.at, token.end);
    return this.fault(token.at, `unexpected ${JSON.stringify(written)} in ${where}`);
  }
}
