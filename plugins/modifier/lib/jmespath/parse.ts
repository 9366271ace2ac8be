import { compile, tokenize } from '@jmespath-community/jmespath';
import { type Data, parseExact, printJson } from '#contract';
import { JmespathError } from './jmespath-error.ts';

/** Syntax tree of an expression. */
export type Node = ReturnType<typeof compile>;

/** A token of an expression, with its position. */
export type Token = ReturnType<typeof tokenize>[number];

/** Syntax that the library accepts beyond the standard, by token type. */
const notStandard: { readonly [type: string]: string } = {
  Plus: 'calculations',
  Minus: 'calculations',
  Multiply: 'calculations',
  Divide: 'calculations',
  Modulo: 'calculations',
  Div: 'calculations',
  Root: 'references to the root ($)',
  Variable: 'variables',
  Assign: 'assignments',
  Question: 'conditions with ? and :',
};

/** Maximum length of an expression, in characters. */
const MAX_LENGTH = 8 * 1024;

/**
 * Parses an expression. The parser does not report the position of an error: it is the end of the shortest prefix that
 * fails for a reason other than being incomplete.
 *
 * @throws JmespathError
 */
export function parse(source: string): { readonly tree: Node; readonly tokens: readonly Token[] } {
  if (source.length > MAX_LENGTH) throw new JmespathError(`an expression can have at most ${MAX_LENGTH} characters`);
  const tokens = readTokens(source);
  const problem = problemOf(source);
  if (!problem) return { tree: compile(source), tokens };
  if (problem.atEnd) {
    throw new JmespathError('the expression ends too early', {
      within: { start: source.length, end: source.length },
    });
  }
  // Every prefix that extends beyond the error fails in the same way as the whole expression.
  let [first, last] = [0, tokens.length - 1];
  while (first < last) {
    const middle = (first + last) >> 1;
    const early = problemOf(source.slice(0, tokens[middle + 1]!.start));
    if (early && !early.atEnd) last = middle;
    else first = middle + 1;
  }
  throw errorAt(source, tokens[first]!.start, tokens[first + 1]?.start ?? source.length);
}

function errorAt(source: string, start: number, end: number): JmespathError {
  const text = source.slice(start, end).trimEnd();
  return new JmespathError(`unexpected ${JSON.stringify(text)} at column ${start + 1}`, {
    within: { start, end: start + text.length },
  });
}

/** @returns why the expression is invalid; null if it is valid. */
function problemOf(source: string): { readonly atEnd: boolean } | null {
  try {
    compile(source);
    return null;
  } catch (error) {
    if (error instanceof RangeError) throw new JmespathError('the expression is nested too deeply');
    // The parser reads beyond the end of the tokens, which causes a TypeError.
    return { atEnd: error instanceof TypeError || /\bEOF\b/.test((error as Error).message) };
  }
}

function readTokens(source: string): readonly Token[] {
  const tokens = tokensOf(source);
  const last = tokens?.at(-1);
  if (!tokens || (last?.type === 'Literal' && !isClosed(source.slice(last.start).trimEnd()))) {
    throw unreadable(source, last);
  }
  for (const [at, { type, value, start }] of tokens.entries()) {
    const within = { start, end: tokens[at + 1]?.start ?? source.length };
    const beyond = notStandard[type];
    if (beyond) throw new JmespathError(`${beyond} are not part of JMESPath`, { within });
    if (type !== 'Literal' || source[start] !== '`') continue;
    const text = source.slice(start, within.end).trim().slice(1, -1).replaceAll('\\`', '`');
    if (isExactly(text, value, within)) continue;
    throw new JmespathError('a literal cannot contain a number of more than 15 digits', { within });
  }
  return tokens;
}

/** @throws JmespathError for a literal that is not JSON. */
function isExactly(text: string, value: unknown, within: { start: number; end: number }): boolean {
  try {
    return printJson(parseExact(text)) === printJson(value as Data);
  } catch {
    throw new JmespathError(`${text} is not valid JSON`, { within });
  }
}

/** Creates the error for text that cannot be tokenized: it starts after the longest prefix that can. */
function unreadable(source: string, unclosed: Token | undefined): JmespathError {
  let start = unclosed?.start ?? source.length - 1;
  while (!unclosed && start > 0 && !tokensOf(source.slice(0, start))) start--;
  while (source[start] === ' ') start++;
  const mark = source[start] ?? '';
  const isQuote = mark === "'" || mark === '"' || mark === '`';
  const message = isQuote ? `the literal that starts with ${mark} at column ${start + 1} is not valid` : undefined;
  return new JmespathError(message ?? `unexpected ${JSON.stringify(mark)} at column ${start + 1}`, {
    within: { start, end: isQuote ? source.length : start + 1 },
    ...(mark === '`' && { hint: 'backticks enclose JSON, as in `18` or `"text"`' }),
  });
}

function tokensOf(source: string): readonly Token[] | null {
  try {
    return tokenize(source);
  } catch {
    return null;
  }
}

/** Whether a literal is closed. The library would read an unclosed one up to the end of the text. */
function isClosed(literal: string): boolean {
  return /^(['`])(?:\\.|(?!\1)[^\\])*\1$/s.test(literal);
}
