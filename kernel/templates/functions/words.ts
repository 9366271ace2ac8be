import { randomInt } from 'node:crypto';
import { Failure } from '../budget.ts';
import { bounded, type Functions, fn } from '../function.ts';
import type { Run } from '../run.ts';
import { mapCharacters } from './strings.ts';

/** Functions that process the words of a text or create random ones. */
export const wordFunctions: Functions = {
  title: fn('string', (text) => text.replace(/(?<=^|[^\w\x80-\u{10ffff}]|[\s\x85])./gsu, upper)),
  untitle: fn('string', (text) => text.replace(/(?<![^\s])\S/gu, lower)),
  nospace: fn('string', (text) => text.replace(/[\s\x85]+/gu, '')),
  initials: fn('string', (text) => text.match(/(?<!\S)\S/gu)?.join('') ?? ''),
  swapcase: fn('string', swapCase),
  camelcase: fn('string', pascalCase),
  snakecase: fn('string', (text) => delimited(text, '_')),
  kebabcase: fn('string', (text) => delimited(text, '-')),
  plural: fn('string string int', (one, many, count) => (count === 1 ? one : many)),
  abbrev: fn('int string', (width, text) => (width < 4 ? text : abbreviate(text, 0, width))),
  abbrevboth: fn('int int string', (left, right, text) =>
    right < 4 || (left > 0 && right < 7) ? text : abbreviate(text, left, right),
  ),
  wrap: bounded('int string', (run, width, text) => wrap(text, width, '\n', false, run)),
  wrapWith: bounded('int string string', (run, width, separator, text) =>
    wrap(text, width, separator || '\n', true, run),
  ),
  shuffle: fn('string', (text) => shuffled([...text]).join('')),
  randAlphaNum: bounded('int', (run, count) => randomText(run, count, DIGITS + LETTERS)),
  randAlpha: bounded('int', (run, count) => randomText(run, count, LETTERS)),
  randNumeric: bounded('int', (run, count) => randomText(run, count, DIGITS)),
  randAscii: bounded('int', (run, count) => randomText(run, count, ASCII)),
};

const DIGITS = '0123456789';
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ASCII = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');

function upper(text: string): string {
  return mapCharacters(text, (sign) => sign.toUpperCase());
}

function lower(text: string): string {
  return mapCharacters(text, (sign) => sign.toLowerCase());
}

function swapCase(text: string): string {
  return text.replace(/\p{L}/gu, (letter) => (/[\p{Lu}\p{Lt}]/u.test(letter) ? lower(letter) : upper(letter)));
}

/** Capitalizes each word; in a word that already begins with a capital, the following capitals become lower case. */
function pascalCase(text: string): string {
  const [, lead = '', rest = ''] = /^([-_\s]*)(.*)$/su.exec(text)!;
  if (rest === '' && lead !== '') return lead + lead.at(-1);
  return (
    lead +
    rest.replace(/([-_\s]*)([^-_\s]*)/gu, (_, between: string, word: string) =>
      word === '' ? between : between.slice(1) + capital(word),
    )
  );
}

function capital(word: string): string {
  const [first = ''] = word;
  const rest = word.slice(first.length);
  return upper(first) + (/\p{Lu}/u.test(first) ? rest.replace(/^\p{Lu}+/u, lower) : rest);
}

type WordKind = 'connector' | 'punctuation' | 'upper' | 'lower' | 'number' | 'other';

const WORDS =
  /(?<connector>[-_\s]+)|(?<punctuation>[^\P{P}_-]+)|(?<upper>\p{Lu}+(?=\p{Lu}[^\P{L}\p{Lu}])|\p{Lu}[^\P{L}\p{Lu}]+|\p{Lu}+)|(?<lower>[^\P{L}\p{Lu}]+)|(?<number>\p{N}+)|(?<other>[^-_\s\p{P}\p{L}\p{N}]+)/gu;

interface Word {
  readonly kind: WordKind;
  readonly text: string;
}

/** Lower-case words joined by a connector; a number belongs to the word before it, unless letters follow it. */
function delimited(text: string, connector: string): string {
  const words: Word[] = Array.from(text.matchAll(WORDS), ({ groups, 0: written }) => ({
    kind: Object.keys(groups!).find((kind) => groups![kind] !== undefined) as WordKind,
    text: written,
  }));
  const between = (next: Word | undefined) =>
    next && next.kind !== 'connector' && next.kind !== 'punctuation' ? connector : '';
  const isRun = (word: Word | undefined) => word?.kind === 'lower' || word?.kind === 'number';
  let result = '';
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    result += word.kind === 'connector' ? connector.repeat([...word.text].length) : lower(word.text);
    if (word.kind === 'connector' || word.kind === 'punctuation') continue;
    const number = words[at + 1];
    const isNumbered = word.kind !== 'number' && number?.kind === 'number' && at + 2 < words.length;
    if (isNumbered && words[at + 2]!.kind !== 'lower') {
      result += number.text;
      at++;
    } else if (isNumbered || word.kind === 'number') {
      if (isNumbered) result += connector;
      while (isRun(words[at + 1])) result += lower(words[++at]!.text);
    } else if (number?.kind === 'number') {
      continue;
    }
    result += between(words[at + 1]);
  }
  return result;
}

const ELLIPSIS = '...';

function abbreviate(text: string, left: number, width: number): string {
  if (text.length <= width) return text;
  const room = width - ELLIPSIS.length;
  const from = text.length - Math.min(left, text.length) < room ? text.length - room : Math.min(left, text.length);
  if (from <= 4) return text.slice(0, room) + ELLIPSIS;
  return from + room < text.length
    ? ELLIPSIS + abbreviate(text.slice(from), 0, room)
    : ELLIPSIS + text.slice(text.length - room);
}

/** Breaks lines at spaces. @param cutsWords true if words longer than a line are split. */
function wrap(text: string, width: number, separator: string, cutsWords: boolean, run: Run): string {
  const most = Math.max(width, 1);
  run.budget.claim((text.length / most + 1) * separator.length + text.length);
  const lines: string[] = [];
  let at = 0;
  while (text.length - at > most) {
    if (text[at] === ' ') {
      at++;
      continue;
    }
    const space = text.lastIndexOf(' ', at + most);
    const isLong = space < at;
    const end = !isLong ? space : cutsWords ? at + most : text.indexOf(' ', at + most);
    if (end < 0) break;
    lines.push(text.slice(at, end));
    at = isLong && cutsWords ? end : end + 1;
  }
  return [...lines, text.slice(at)].join(separator);
}

function shuffled<T>(items: T[]): T[] {
  for (let at = items.length - 1; at > 0; at--) {
    const other = randomInt(at + 1);
    [items[at], items[other]] = [items[other]!, items[at]!];
  }
  return items;
}

function randomText(run: Run, count: number, signs: string): string {
  if (count < 0) throw new Failure(`cannot make ${count} characters`);
  run.budget.claim(count);
  run.budget.spend(count >> 2);
  let text = '';
  for (let at = 0; at < count; at++) text += signs[randomInt(signs.length)];
  return text;
}
