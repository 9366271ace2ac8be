import { Failure } from '../budget.ts';
import { bounded, type Functions, fn } from '../function.ts';
import { textOf } from '../print/print.ts';
import { quoted } from '../print/quote.ts';
import type { Run } from '../run.ts';
import { compareTexts, type Dict, isList, setValue, type Value } from '../value.ts';

/** Functions that split, join and change texts. */
export const stringFunctions: Functions = {
  trim: fn('string', trimSpace),
  trimAll: fn('string string', trimAll),
  trimall: fn('string string', trimAll),
  trimPrefix: fn('string string', (prefix, text) => (text.startsWith(prefix) ? text.slice(prefix.length) : text)),
  trimSuffix: fn('string string', (suffix, text) =>
    text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text,
  ),
  upper: fn('string', (text) => mapCharacters(text, (sign) => sign.toUpperCase())),
  lower: fn('string', (text) => mapCharacters(text, (sign) => sign.toLowerCase())),
  repeat: bounded('int string', (run, count, text) => {
    if (count < 0) throw new Failure(`cannot repeat ${count} times`);
    run.budget.claim(count * text.length);
    return text.repeat(count);
  }),
  contains: fn('string string', (segment, text) => text.includes(segment)),
  hasPrefix: fn('string string', (prefix, text) => text.startsWith(prefix)),
  hasSuffix: fn('string string', (suffix, text) => text.endsWith(suffix)),
  replace: bounded('string string string', replace),
  quote: bounded('any...', (run, ...values) => quoteAll(values, run, quoted)),
  squote: bounded('any...', (run, ...values) => quoteAll(values, run, (text) => `'${text}'`)),
  cat: bounded('any...', (run, ...values) =>
    trimSpace(
      present(values)
        .map((value) => claimed(value, run))
        .join(' '),
    ),
  ),
  indent: bounded('int string', indent),
  nindent: bounded('int string', (run, spaces, text) => `\n${indent(run, spaces, text)}`),
  trunc: fn('int string', (count, text) =>
    count < 0 ? cut(text, Math.max(0, byteLength(text) + count)) : cut(text, 0, count),
  ),
  substr: fn('int int string', (start, end, text) => substring(start, end, text)),
  toString: bounded('any', (run, value) => textOf(value, run)),
  toStrings: bounded('any', (run, value) => textsOf(value, run)),
  join: bounded('string any', (run, separator, values) => joinTexts(textsOf(values, run), separator, run)),
  split: bounded('string string', (run, separator, text) => numbered(splitText(text, separator, run))),
  splitn: bounded('string int string', (run, separator, count, text) => {
    const segments = splitText(text, separator, run);
    if (count < 0 || segments.length <= count) return numbered(segments);
    if (count === 0) return {};
    return numbered([...segments.slice(0, count - 1), segments.slice(count - 1).join(separator)]);
  }),
  splitList: bounded('string string', (run, separator, text) => splitText(text, separator, run)),
  sortAlpha: bounded('any', (run, values) => {
    const texts = textsOf(values, run);
    run.budget.spend(texts.length);
    return isList(values) ? texts.sort(compareTexts) : texts;
  }),
};

const SPACE = '\\t\\n\\v\\f\\r\\x85\\p{Zs}\\u2028\\u2029';
const LEADING_SPACE = new RegExp(`^[${SPACE}]+`, 'u');

/** Removes leading and trailing white space. */
export function trimSpace(text: string): string {
  const start = text.replace(LEADING_SPACE, '');
  // A loop, because a pattern anchored at the end would be tried at every white space of the text.
  let end = start.length;
  while (end > 0 && /[\t-\r\x85\p{Zs}\u2028\u2029]/u.test(start[end - 1]!)) end--;
  return start.slice(0, end);
}

function trimAll(signs: string, text: string): string {
  const set = new Set(signs);
  const characters = [...text];
  let start = 0;
  let end = characters.length;
  while (start < end && set.has(characters[start]!)) start++;
  while (end > start && set.has(characters[end - 1]!)) end--;
  return characters.slice(start, end).join('');
}

/** Maps a text character by character; a character whose result is longer, such as ß, stays unchanged. */
export function mapCharacters(text: string, map: (sign: string) => string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return map(text);
  return Array.from(text, (sign) => {
    const mapped = map(sign);
    return [...mapped].length === 1 ? mapped : sign;
  }).join('');
}

function replace(run: Run, from: string, to: string, text: string): string {
  const segments = splitText(text, from, run);
  const count = from === '' ? segments.length + 1 : segments.length - 1;
  run.budget.claim(count * to.length);
  return from === '' ? `${to}${segments.map((sign) => sign + to).join('')}` : segments.join(to);
}

/** An empty separator splits into characters. */
export function splitText(text: string, separator: string, run: Run): string[] {
  const segments = separator === '' ? [...text] : text.split(separator);
  run.budget.spend(segments.length >> 4);
  return segments;
}

function numbered(segments: readonly string[]): Dict {
  const result: Dict = {};
  for (const [index, segment] of segments.entries()) setValue(result, `_${index}`, segment);
  return result;
}

export function present(values: readonly Value[]): Value[] {
  return values.filter((value) => value !== undefined && value !== null);
}

function claimed(value: Value, run: Run): string {
  const text = textOf(value, run);
  run.budget.claim(text.length);
  return text;
}

function quoteAll(values: readonly Value[], run: Run, quote: (text: string) => string): string {
  return present(values)
    .map((value) => quote(claimed(value, run)))
    .join(' ');
}

/** The items of a list as texts; for any other value, its text as the only one. */
export function textsOf(value: Value, run: Run): string[] {
  if (isList(value)) {
    run.budget.spend(value.length);
    return present(value).map((item) => textOf(item, run));
  }
  return value === undefined || value === null ? [] : [textOf(value, run)];
}

export function joinTexts(texts: readonly string[], separator: string, run: Run): string {
  let length = separator.length * texts.length;
  for (const text of texts) length += text.length;
  run.budget.claim(length);
  return texts.join(separator);
}

function indent(run: Run, spaces: number, text: string): string {
  if (spaces < 0) throw new Failure(`cannot indent by ${spaces}`);
  run.budget.claim(spaces * (1 + text.length));
  const pad = ' '.repeat(spaces);
  return pad + text.replaceAll('\n', `\n${pad}`);
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** Cuts a text by UTF-8 bytes, as Go does. */
function cut(text: string, start: number, end?: number): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text.slice(start, end);
  return Buffer.from(text).subarray(start, end).toString();
}

function substring(start: number, end: number, text: string): string {
  const length = byteLength(text);
  const until = end < 0 || end > length ? length : end;
  if (start < 0) {
    if (end < 0 || end > length) throw new Failure(`out of range: up to ${end}, the length is ${length}`);
    return cut(text, 0, end);
  }
  if (start > until) throw new Failure(`out of range: ${start} to ${until}, the length is ${length}`);
  return cut(text, start, until);
}
