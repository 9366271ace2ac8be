import { type Token, tokenAt } from './json-token.ts';

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
