/** What is wrong with a regular expression: a clause for the operator, and where in its text, when that is known. */
export interface PatternFault {
  readonly message: string;
  /** In UTF-16 units; the end is exclusive. */
  readonly within?: { readonly start: number; readonly end: number };
}

/** Where the scan of an expression stands. */
interface Scan {
  readonly source: string;
  /** Positions of the groups that are open. */
  readonly open: number[];
  /** Something stands before that a quantifier could repeat. */
  repeatable: boolean;
}

/**
 * Finds out why a regular expression was refused.
 * @param cause what the engine threw; its words are used where the place cannot be found.
 */
export function patternFault(source: string, cause: unknown): PatternFault {
  const scan: Scan = { source, open: [], repeatable: false };
  for (let at = 0; at < source.length; ) {
    const step = (readers[source[at]!] ?? literal)(scan, at);
    if (typeof step !== 'number') return step;
    at = step;
  }
  const [start] = scan.open;
  if (start !== undefined) return at("the '(' is never closed", start, start + 1);
  const reason = String((cause as Error).message)
    .split(': ')
    .at(-1)!;
  return { message: `not a regular expression that can be used: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}` };
}

/** Reads what stands at a position. @returns where to go on, or what is wrong. */
type Reader = (scan: Scan, start: number) => number | PatternFault;

const GROUP_HEAD = /\((?:\?(?:P?<\w+>|<?[=!]|[a-zA-Z-]*:?))?/y;
const COUNT = /\{(\d+)(?:,(\d*))?\}/y;
const POSIX_CLASS = /\[:\w+:\]/y;
const RANGE = /([^\\\]])-([^\\\]])/y;

const literal: Reader = (scan, start) => {
  scan.repeatable = true;
  return start + 1;
};

const repeat: Reader = (scan, start) => {
  const { source } = scan;
  if (!scan.repeatable) return at(`nothing stands before '${source[start]}' that could be repeated`, start, start + 1);
  scan.repeatable = false;
  // A question mark behind a quantifier makes it reluctant.
  return source[start + 1] === '?' ? start + 2 : start + 1;
};

const readers: Readonly<Record<string, Reader>> = {
  '\\': (scan, start) => {
    if (start + 1 === scan.source.length) return at('ends in a lone backslash', start, start + 1);
    scan.repeatable = true;
    return start + 2;
  },
  '(': (scan, start) => {
    scan.open.push(start);
    scan.repeatable = false;
    return start + match(GROUP_HEAD, scan.source, start)![0].length;
  },
  ')': (scan, start) => {
    if (scan.open.pop() === undefined) return at("the ')' has no '(' before it", start, start + 1);
    scan.repeatable = true;
    return start + 1;
  },
  '|': (scan, start) => {
    scan.repeatable = false;
    return start + 1;
  },
  '*': repeat,
  '+': repeat,
  '?': repeat,
  '{': (scan, start) => {
    const count = match(COUNT, scan.source, start);
    if (!count) return literal(scan, start);
    const end = start + count[0].length;
    if (count[2] && Number(count[2]) < Number(count[1])) {
      return at(`the numbers of ${count[0]} are out of order`, start, end);
    }
    const next = repeat(scan, start);
    return typeof next === 'number' ? end + (next - start - 1) : next;
  },
  '[': (scan, start) => {
    const { source } = scan;
    scan.repeatable = true;
    for (let position = start + 1; position < source.length; ) {
      if (source[position] === ']') return position + 1;
      const range = match(RANGE, source, position);
      if (range && range[1]! > range[2]!) return at(`the range ${range[0]} is out of order`, position, position + 3);
      const named = match(POSIX_CLASS, source, position);
      position += named?.[0].length ?? (source[position] === '\\' ? 2 : (range?.[0].length ?? 1));
    }
    return at("the '[' is never closed", start, start + 1);
  },
};

function match(pattern: RegExp, source: string, start: number): RegExpExecArray | null {
  pattern.lastIndex = start;
  return pattern.exec(source);
}

function at(message: string, start: number, end: number): PatternFault {
  return { message, within: { start, end } };
}
