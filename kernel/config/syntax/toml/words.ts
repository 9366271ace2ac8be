import { readDuration } from '../../schema/duration.ts';
import type { TextRange } from '../position.ts';
import { syntaxFault, type TextFault } from '../text-format.ts';

interface Words {
  /** Beginning of the message of the TOML parser. */
  readonly theirs: string;
  readonly ours: string;
  readonly hint?: string;
  /** Pattern that the text at the position must match, if several errors share the parser's message. */
  readonly at?: RegExp;
}

const words: readonly Words[] = [
  { theirs: 'control characters', at: /^\r?\n/, ours: 'this string has no closing quote', hint: 'end it with a quote' },
  { theirs: 'control characters', ours: 'strings cannot contain control characters', hint: 'write it as \\u00…' },
  { theirs: 'unfinished string', ours: 'this string has no closing quote', hint: 'end it with a quote' },
  { theirs: 'unfinished array', ours: 'this list is not closed', hint: 'close it with ]' },
  { theirs: 'unfinished table', ours: 'this inline table is not closed', hint: 'close it with }' },
  { theirs: 'expected comma', at: /^$/, ours: 'a list or inline table is not closed', hint: 'close it with ] or }' },
  { theirs: 'expected comma', ours: 'a comma or the closing bracket is missing here' },
  {
    theirs: 'expected end of table',
    ours: 'this header is not closed',
    hint: 'close it with as many ] as it has opening [',
  },
  { theirs: 'each key-value', at: /^\]/, ours: 'this bracket closes nothing', hint: 'remove it' },
  { theirs: 'each key-value', ours: 'only one key is allowed on a line', hint: 'begin a new line' },
  { theirs: 'invalid value', at: /^(?:\r?\n|$|#|,)/, ours: 'a value is missing here' },
  { theirs: 'incomplete key-value', ours: "this key has no '=' and no value" },
  { theirs: 'unexpected end of key', ours: 'a key is missing here' },
  { theirs: 'illegal empty bare key', ours: 'a part of this key is missing' },
  { theirs: 'illegal character in key', at: /^:/, ours: "'=' is missing after this key", hint: "write '=' instead" },
  { theirs: 'illegal character in key', at: /^\r?\n/, ours: 'this header is not closed', hint: 'close it with ]' },
  { theirs: 'illegal character in key', ours: 'not allowed in a key', hint: 'write the key between quotes' },
  { theirs: 'unrecognised escape', ours: 'not a valid escape in TOML', hint: 'write \\\\ for a backslash' },
  { theirs: 'invalid non-hex', ours: 'hexadecimal digits are missing in this escape' },
  { theirs: 'invalid unicode', ours: 'this escape is not a character' },
  {
    theirs: 'trying to redefine',
    ours: 'this name is already used for a value or a table',
    hint: 'remove one of the two',
  },
  { theirs: 'invalid date', ours: 'not a valid date', hint: 'write a string between quotes: "..."' },
];

/** Likely meanings of an invalid value, tried in order. */
const misspelled: readonly (readonly [written: RegExp, message: string, hint: string])[] = [
  [/^(?:true|yes|on)$/i, 'not valid TOML', 'true'],
  [/^(?:false|no|off)$/i, 'not valid TOML', 'false'],
  [/^(?:null|none|nil|undefined)$/i, 'TOML has no such value', 'leave the key out'],
  [/^[+-]?0\d+$/, 'a number must not begin with zeros', 'remove the zeros'],
  [/^[+-]?\.\d/, 'a number must begin with a digit', 'write 0 before the dot'],
  [/^[+-]?\d+\.$/, 'digits are missing after the dot', 'remove the dot'],
  [/^[+-]?[\d_]+$/, 'an underscore must be between two digits', 'remove it'],
  [/^[+-]?\d[\d.]*[a-z%]+$/i, 'not valid TOML', 'a number alone, or a string between quotes: "..."'],
];

/** Parser messages about an invalid value, regardless of where in the value the parser stopped. */
const aboutValues =
  /^(?:invalid value|illegal (?:character in num|leading zero|underscore)|unfinished num|invalid num)/;

/** Rewords a parser error for operators. @param reason the parser's message. @param start offset where the parser stopped. */
export function tomlFault(reason: string, text: string, start: number): TextFault {
  const at = Math.min(start, text.trimEnd().length);
  const known = words.find(
    ({ theirs, at: here }) => reason.startsWith(theirs) && (here?.test(text.slice(start, start + 2)) ?? true),
  );
  if (known) return syntaxFault(known.ours, wordAt(text, at), known.hint);
  return aboutValues.test(reason) ? badValue(text, valueAround(text, at)) : syntaxFault(reason, wordAt(text, at));
}

/** Error for an invalid word in place of a value; the word may be a secret and is repeated only if it is a duration. */
function badValue(text: string, range: TextRange): TextFault {
  const written = text.slice(range.start, range.end);
  if (readDuration(written) !== undefined) {
    const quoted = JSON.stringify(written);
    return syntaxFault('durations must be in quotes', range, quoted, quoted);
  }
  const [, message, hint] = misspelled.find(([pattern]) => pattern.test(written)) ?? [
    null,
    'not valid TOML',
    'write a string between quotes: "..."',
  ];
  return syntaxFault(message, range, hint, /^(?:true|false)$/.test(hint) ? hint : undefined);
}

const word = /[^\s,\]}#=]+|[^\n\r]|/y;

function wordAt(text: string, start: number): TextRange {
  word.lastIndex = start;
  return { start, end: start + word.exec(text)![0].length };
}

/** Range of the whole word around an offset. */
function valueAround(text: string, at: number): TextRange {
  let start = at;
  while (start > 0 && /[^\s,=[{"']/.test(text[start - 1]!)) start--;
  return { start, end: wordAt(text, Math.max(at, start)).end };
}
