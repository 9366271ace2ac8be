import { currentBudget } from '../budget.ts';

/** An error in a pattern. */
export class LuaPatternError extends Error {}

/** A captured part of the subject: start and length; `POSITION` for `()`. */
export interface Capture {
  readonly start: number;
  length: number;
}

export const POSITION = -2;
const OPEN = -1;

const MAX_CAPTURES = 32;
/** Deepest recursion of the matcher. */
const MAX_DEPTH = 200;
/** Steps between two time checks. */
const STEPS_A_LOOK = 2048;

const code = (character: string) => character.charCodeAt(0);
const ESCAPE = code('%');
const [DOT, OPEN_SET, CLOSE_SET, CARET, DASH] = [code('.'), code('['), code(']'), code('^'), code('-')];
const [STAR, PLUS, OPTIONAL, DOLLAR] = [code('*'), code('+'), code('?'), code('$')];
const [OPEN_GROUP, CLOSE_GROUP, BALANCE, FRONTIER] = [code('('), code(')'), code('b'), code('f')];

/**
 * Matcher for Lua patterns over bytes. Matching may take exponential time: every step is counted, and the budget of the
 * running script limits them.
 */
export class Matcher {
  readonly source: Uint8Array;
  readonly #pattern: Uint8Array;
  captures: Capture[] = [];
  #depth = 0;
  #steps = 0;

  constructor(source: Uint8Array, pattern: Uint8Array) {
    this.source = source;
    this.#pattern = pattern;
  }

  /** @returns the end of the match that starts at `at`; -1 without a match. @param from start of the pattern. */
  match(at: number, from = 0): number {
    this.#count();
    this.captures = [];
    this.#depth = 0;
    return this.#match(at, from);
  }

  #match(start: number, from: number): number {
    if (++this.#depth > MAX_DEPTH) throw new LuaPatternError('pattern too complex');
    const end = this.#step(start, from);
    this.#depth--;
    return end;
  }

  #step(start: number, from: number): number {
    const { source } = this;
    const pattern = this.#pattern;
    let at = start;
    let p = from;
    while (p < pattern.length) {
      this.#count();
      switch (pattern[p]) {
        case OPEN_GROUP:
          return pattern[p + 1] === CLOSE_GROUP ? this.#open(at, p + 2, POSITION) : this.#open(at, p + 1, OPEN);
        case CLOSE_GROUP:
          return this.#close(at, p + 1);
        case DOLLAR:
          if (p + 1 === pattern.length) return at === source.length ? at : -1;
          break;
        case ESCAPE: {
          const next = pattern[p + 1];
          if (next === BALANCE) {
            at = this.#balance(at, p + 2);
            if (at < 0) return -1;
            p += 4;
            continue;
          }
          if (next === FRONTIER) {
            p += 2;
            if (pattern[p] !== OPEN_SET) throw new LuaPatternError("missing '[' after '%f' in pattern");
            const end = this.#classEnd(p);
            const before = at === 0 ? 0 : source[at - 1]!;
            if (this.#inSet(before, p, end - 1) || !this.#inSet(source[at] ?? 0, p, end - 1)) return -1;
            p = end;
            continue;
          }
          if (next !== undefined && next >= 48 && next <= 57) {
            at = this.#back(at, next);
            if (at < 0) return -1;
            p += 2;
            continue;
          }
          break;
        }
      }
      const end = this.#classEnd(p);
      switch (pattern[end]) {
        case OPTIONAL: {
          if (this.#single(at, p, end)) {
            const rest = this.#match(at + 1, end + 1);
            if (rest >= 0) return rest;
          }
          p = end + 1;
          continue;
        }
        case PLUS:
          return this.#single(at, p, end) ? this.#longest(at + 1, p, end) : -1;
        case STAR:
          return this.#longest(at, p, end);
        case DASH:
          return this.#shortest(at, p, end);
      }
      if (!this.#single(at, p, end)) return -1;
      at++;
      p = end;
    }
    return at;
  }

  #count(): void {
    if (++this.#steps % STEPS_A_LOOK === 0) currentBudget()?.look();
  }

  #longest(start: number, p: number, end: number): number {
    let count = 0;
    while (this.#single(start + count, p, end)) {
      this.#count();
      count++;
    }
    for (; count >= 0; count--) {
      const rest = this.#match(start + count, end + 1);
      if (rest >= 0) return rest;
    }
    return -1;
  }

  #shortest(start: number, p: number, end: number): number {
    for (let at = start; ; at++) {
      const rest = this.#match(at, end + 1);
      if (rest >= 0) return rest;
      if (!this.#single(at, p, end)) return -1;
    }
  }

  #open(at: number, p: number, length: number): number {
    if (this.captures.length >= MAX_CAPTURES) throw new LuaPatternError('too many captures');
    const kept = this.captures.length;
    this.captures.push({ start: at, length });
    const end = this.#match(at, p);
    if (end < 0) this.captures.length = kept;
    return end;
  }

  #close(at: number, p: number): number {
    const open = this.captures.findLast(({ length }) => length === OPEN);
    if (!open) throw new LuaPatternError('invalid pattern capture');
    open.length = at - open.start;
    const end = this.#match(at, p);
    if (end < 0) open.length = OPEN;
    return end;
  }

  #balance(start: number, p: number): number {
    const [open, close] = [this.#pattern[p], this.#pattern[p + 1]];
    if (close === undefined) throw new LuaPatternError("missing arguments to '%b'");
    const { source } = this;
    if (source[start] !== open) return -1;
    let depth = 1;
    for (let at = start + 1; at < source.length; at++) {
      this.#count();
      if (source[at] === close) {
        if (--depth === 0) return at + 1;
      } else if (source[at] === open) depth++;
    }
    return -1;
  }

  #back(at: number, digit: number): number {
    const capture = this.captures[digit - 49];
    if (!capture || capture.length === OPEN) throw new LuaPatternError(`invalid capture index %${digit - 48}`);
    const { source } = this;
    const { start, length } = capture;
    for (let offset = 0; offset < length; offset++) {
      this.#count();
      if (source[start + offset] !== source[at + offset]) return -1;
    }
    return at + Math.max(length, 0);
  }

  /** End of the class that starts at `p`. */
  #classEnd(p: number): number {
    const pattern = this.#pattern;
    if (pattern[p] === ESCAPE) {
      if (p + 1 >= pattern.length) throw new LuaPatternError("malformed pattern (ends with '%')");
      return p + 2;
    }
    if (pattern[p] !== OPEN_SET) return p + 1;
    let at = p + 1;
    if (pattern[at] === CARET) at++;
    do {
      if (at >= pattern.length) throw new LuaPatternError("malformed pattern (missing ']')");
      at += pattern[at] === ESCAPE ? 2 : 1;
    } while (pattern[at] !== CLOSE_SET);
    return at + 1;
  }

  #single(at: number, p: number, end: number): boolean {
    const byte = this.source[at];
    if (byte === undefined) return false;
    switch (this.#pattern[p]) {
      case DOT:
        return true;
      case ESCAPE:
        return inClass(byte, this.#pattern[p + 1]!);
      case OPEN_SET:
        return this.#inSet(byte, p, end - 1);
      default:
        return this.#pattern[p] === byte;
    }
  }

  /** @param last end of the set: its `]`. */
  #inSet(byte: number, p: number, last: number): boolean {
    const pattern = this.#pattern;
    const isNegated = pattern[p + 1] === CARET;
    for (let at = isNegated ? p + 2 : p + 1; at < last; at++) {
      if (pattern[at] === ESCAPE) {
        at++;
        if (inClass(byte, pattern[at]!)) return !isNegated;
      } else if (pattern[at + 1] === DASH && at + 2 < last) {
        if (pattern[at]! <= byte && byte <= pattern[at + 2]!) return !isNegated;
        at += 2;
      } else if (pattern[at] === byte) return !isNegated;
    }
    return isNegated;
  }
}

const between = (byte: number, from: string, to: string) => byte >= code(from) && byte <= code(to);
const isLower = (byte: number) => between(byte, 'a', 'z');
const isUpper = (byte: number) => between(byte, 'A', 'Z');
const isDigit = (byte: number) => between(byte, '0', '9');
const isAlphanumeric = (byte: number) => isLower(byte) || isUpper(byte) || isDigit(byte);

const classes: Readonly<Record<string, (byte: number) => boolean>> = {
  a: (byte) => isLower(byte) || isUpper(byte),
  c: (byte) => byte < 32 || byte === 127,
  d: isDigit,
  g: (byte) => byte > 32 && byte < 127,
  l: isLower,
  p: (byte) => byte > 32 && byte < 127 && !isAlphanumeric(byte),
  s: (byte) => byte === 32 || (byte >= 9 && byte <= 13),
  u: isUpper,
  w: isAlphanumeric,
  x: (byte) => isDigit(byte) || between(byte, 'a', 'f') || between(byte, 'A', 'F'),
  z: (byte) => byte === 0,
};

/** `%a` and similar classes; `%A` is the complement; any other escaped character is literal. */
const table = Array.from({ length: 256 }, (_, letter) => classes[String.fromCharCode(letter).toLowerCase()]);

function inClass(byte: number, letter: number): boolean {
  const test = table[letter];
  if (!test) return letter === byte;
  return test(byte) !== isUpper(letter);
}
