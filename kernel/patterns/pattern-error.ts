import type { ConfigErrorOptions } from '#contract';
import { PatternError } from '../contract/internal.ts';
import { compileProgram, loadEngine } from './engine.ts';

/** An error of the engine about an expression: the kind of error, and the part of the expression that it quotes. */
interface Complaint {
  readonly kind: string;
  readonly fragment: string;
}

/** Message for operators. */
interface Words {
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Converts the engine's error for an expression into a message for operators, with the location. */
export function patternError(source: string, cause: unknown): PatternError {
  const complaint = complaintOf(cause);
  if (!complaint) throw cause;
  const { message, hint }: Words = words[complaint.kind]?.(complaint.fragment) ?? { message: complaint.kind };
  return new PatternError(message, { hint, within: placeOf(source, complaint), cause });
}

/** Parses the engine's error. @returns undefined when the engine failed in another way. */
function complaintOf(error: unknown): Complaint | undefined {
  if (!(error instanceof loadEngine().RE2JSSyntaxException)) return undefined;
  const { error: kind, input } = error;
  return { kind, fragment: foreign.map(([begin]) => begin.exec(input ?? '')?.[0]).find(Boolean) ?? input ?? '' };
}

const TWO_PATTERNS = 'patterns use the RE2 syntax, which has no lookaround and no backreferences: use two patterns';

/** Syntax of other dialects, by its beginning, with the replacement to suggest. */
const foreign: readonly (readonly [begin: RegExp, name: string, hint: string])[] = [
  [/^\(\?[=!]/, 'lookahead', TWO_PATTERNS],
  [/^\(\?<[=!]/, 'lookbehind', TWO_PATTERNS],
  [/^\\[1-9k]$/, 'backreference', TWO_PATTERNS],
  [/^\(\?>/, 'atomic group', '(?: )'],
  [/^\(\?#/, 'comment', 'leave it out'],
  [/^\(\?(?!P)[\w-]+/, 'flag', 'flags are i, m, s and U'],
  [/^\\u$/, 'escape', '\\x{00e9} for \\u00e9'],
  [/^\\Z$/, 'escape', '\\z'],
  [/^\\h$/, 'escape', '[ \\t]'],
  [/^\\e$/, 'escape', '\\x1b'],
  // Outside of character classes, `\b` is a word boundary.
  [/^\\b$/, 'escape', '\\x08 for a backspace'],
];

const words: Readonly<Record<string, (segment: string) => Words>> = {
  'missing closing )': () => ({ message: "the '(' is never closed" }),
  'unexpected )': () => ({ message: "unmatched ')'" }),
  'missing closing ]': () => ({ message: "the '[' is never closed" }),
  'missing argument to repetition operator': (segment) => ({
    message: `nothing precedes '${segment}' that could be repeated`,
  }),
  'invalid nested repetition operator': (segment) => ({ message: `'${segment}' repeats another repetition` }),
  'invalid repeat count': (segment) => {
    const [from, to] = segment.match(/\d+/g)!.map(Number);
    return to !== undefined && to < from!
      ? { message: `the numbers of ${segment} are out of order` }
      : { message: `${segment} repeats too often`, hint: 'nested repetitions can add up to 1000 at most' };
  },
  'invalid character class range': (segment) => {
    if (segment.startsWith('['))
      return { message: `${segment} is not a class`, hint: '[:alpha:], [:digit:], [:space:] …' };
    return /^\\[pP]/.test(segment)
      ? { message: `${segment} is not a valid character class`, hint: '\\pL, \\p{Lu}, \\p{Greek} …' }
      : { message: `the range ${segment} is out of order` };
  },
  'invalid escape sequence': notSupported,
  'invalid or unsupported Perl syntax': notSupported,
  'invalid named capture': notSupported,
  'duplicate capture group name': (segment) => ({ message: `two groups have the name '${segment}'` }),
  'trailing backslash at end of expression': () => ({ message: 'ends in a lone backslash' }),
};

function notSupported(segment: string): Words {
  const [, name, hint] = foreign.find(([begin]) => begin.test(segment)) ?? [];
  if (name !== undefined) return { message: `${name} ${segment} is not supported`, hint };
  return { message: segment.startsWith('\\') ? `${segment} is not an escape sequence` : `${segment} is not a group` };
}

/** Maximum number of characters that are compiled again to locate an error: enough for 1,000 tries on a pattern of usual length. */
const SEARCH_LIMIT = 100_000;

/** Locates the error in an expression. @returns undefined when that would take too long. */
function placeOf(source: string, { kind, fragment: segment }: Complaint): ConfigErrorOptions['within'] {
  const mark = marks[kind]?.(segment) ?? segment;
  const start = startOf(source, mark, { kind, fragment: segment });
  return start === undefined ? undefined : { start, end: start + mark.length };
}

function startOf(source: string, mark: string, { kind, fragment: segment }: Complaint): number | undefined {
  const tries = Math.ceil(SEARCH_LIMIT / source.length);
  switch (kind) {
    case 'missing closing ]':
      // The engine quotes the expression from the error to its end.
      return source.length - segment.length;
    case 'missing closing )':
      // The last parenthesis before which the expression can be compiled is the unclosed one.
      return placesOf(mark, source)
        .slice(-tries)
        .findLast((at) => !complaintAbout(source.slice(0, at)));
    default:
      // The engine parses from left to right, so it reports the same error if the expression ends right after it.
      return placesOf(mark, source)
        .slice(0, tries)
        .find((at) => complaintAbout(source.slice(0, at + mark.length))?.kind === kind);
  }
}

/** Text to search for at the position of the error, if it differs from the part that the engine quotes. */
const marks: Readonly<Record<string, (segment: string) => string>> = {
  'missing closing )': () => '(',
  'unexpected )': () => ')',
  'missing closing ]': () => '[',
  'duplicate capture group name': (name) => `<${name}>`,
  'trailing backslash at end of expression': () => '\\',
};

function placesOf(segment: string, source: string): number[] {
  const places: number[] = [];
  if (segment === '') return places;
  for (let at = source.indexOf(segment); at >= 0; at = source.indexOf(segment, at + 1)) places.push(at);
  return places;
}

function complaintAbout(source: string): Complaint | undefined {
  try {
    compileProgram(source);
    return undefined;
  } catch (error) {
    return complaintOf(error);
  }
}
