import { escapePointer } from '../../../values/pointer.ts';
import type { TextNode, TextRange } from '../position.ts';
import { duplicateKey, type TextFault } from '../text-format.ts';

/**
 * Kind of syntax that defined a value: a header, list headers or an assignment; `implied` if its name occurs only as a
 * prefix of other names.
 */
type Kind = 'table' | 'tables' | 'value' | 'implied';

/** Position of a value in a TOML document: the literal of an assigned value, the first header of a table. */
export class TomlPlace implements TextNode {
  /** All literals of the key: dotted names and headers can repeat a key. */
  readonly keys: TextRange[] = [];
  readonly inner = new Map<string, TomlPlace>();
  kind: Kind;
  value: TextRange;

  constructor(kind: Kind, value: TextRange) {
    this.kind = kind;
    this.value = value;
  }

  get key(): TextRange | undefined {
    return this.keys[0];
  }

  child(step: string): TomlPlace | undefined {
    return this.inner.get(step);
  }
}

interface Name extends TextRange {
  readonly text: string;
}

/** A table with its pointer. */
type At = readonly [table: TomlPlace, pointer: string];

const blank = /(?:[ \t\r\n]+|#[^\n]*)*/y;
const spaces = /[ \t]*/y;
const restOfLine = /[^\n]*/y;
const bareName = /[A-Za-z0-9_-]*/y;
const scalar = /[^\s,\]}#]*(?: \d\d:\d\d[^\s,\]}#]*)?/y;

/** String literals by their opening quotes, longest first. */
const strings: readonly (readonly [opening: string, pattern: RegExp])[] = [
  ['"""', /"""[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"{0,5}/y],
  ["'''", /'''[^']*(?:'(?!'')[^']*)*'{0,5}/y],
  ['"', /"[^"\\\n]*(?:\\.[^"\\\n]*)*"?/y],
  ["'", /'[^'\n]*'?/y],
];

/**
 * Finds the positions of all values in a TOML text, and duplicate keys. Skips invalid syntax: positions are correct as
 * far as the text is valid.
 * @throws RangeError if the text is nested too deeply.
 */
export function tomlPlaces(text: string): { root: TomlPlace; duplicates: TextFault[] } {
  const root = new TomlPlace('table', { start: 0, end: text.length });
  const duplicates: TextFault[] = [];
  let at = 0;

  const take = (sticky: RegExp): TextRange => {
    const start = at;
    sticky.lastIndex = at;
    at += sticky.exec(text)?.[0].length ?? 0;
    return { start, end: at };
  };

  function header(): At {
    const start = at;
    const isList = text.startsWith('[[', at);
    at += isList ? 2 : 1;
    const names = dotted();
    at += text.startsWith(isList ? ']]' : ']', at) ? (isList ? 2 : 1) : 0;
    const whole = { start, end: at };
    const last = names.pop();
    if (!last) return [new TomlPlace('table', whole), ''];
    const [holder, base] = descend([root, ''], names, whole);
    const pointer = `${base}/${escapePointer(last.text)}`;
    const known = holder.inner.get(last.text);
    const isRepeated = known && known.kind !== 'implied' && !(isList && known.kind === 'tables');
    if (isRepeated) repeated(known, last, pointer);
    const place = known ?? new TomlPlace('table', whole);
    if (place.kind !== 'tables') place.kind = isList ? 'tables' : 'table';
    place.keys.push({ start: last.start, end: last.end });
    holder.inner.set(last.text, place);
    if (!isList) return [place, pointer];
    const index = String(place.inner.size);
    const item = new TomlPlace('table', whole);
    place.inner.set(index, item);
    return [item, `${pointer}/${index}`];
  }

  /** Follows names through tables, using the last item of table lists; missing tables are created as implied. */
  function descend([table, base]: At, names: readonly Name[], whole: TextRange): At {
    let place = table;
    let pointer = base;
    for (const { text: name, start, end } of names) {
      const inner = place.inner.get(name) ?? new TomlPlace('implied', whole);
      place.inner.set(name, inner);
      inner.keys.push({ start, end });
      pointer += `/${escapePointer(name)}`;
      const last = inner.kind === 'tables' ? String(inner.inner.size - 1) : undefined;
      place = (last === undefined ? undefined : inner.inner.get(last)) ?? inner;
      if (place !== inner) pointer += `/${last}`;
    }
    return [place, pointer];
  }

  function assignment(table: At): void {
    const start = at;
    const names = dotted();
    const last = names.pop();
    if (!last || text[at] !== '=') return;
    at++;
    take(spaces);
    const [holder, base] = descend(table, names, { start, end: at });
    const pointer = `${base}/${escapePointer(last.text)}`;
    const known = holder.inner.get(last.text);
    if (known) repeated(known, last, pointer);
    const place = valuePlace(pointer);
    place.keys.push({ start: last.start, end: last.end });
    if (!known) holder.inner.set(last.text, place);
  }

  function repeated(known: TomlPlace, { text: name, start, end }: Name, pointer: string): void {
    duplicates.push(duplicateKey(name, pointer, { start, end }, known.key ?? known.value));
  }

  function valuePlace(pointer: string): TomlPlace {
    const start = at;
    const place = new TomlPlace('value', { start, end: start });
    if (text[at] === '[') {
      members(']', (index) => place.inner.set(String(index), valuePlace(`${pointer}/${index}`)));
    } else if (text[at] === '{') {
      members('}', () => assignment([place, pointer]));
    } else {
      take(stringAt() ?? scalar);
    }
    place.value = { start, end: at };
    return place;
  }

  function members(closer: string, member: (index: number) => void): void {
    at++;
    take(blank);
    for (let index = 0; at < text.length && text[at] !== closer; index++) {
      const before = at;
      member(index);
      take(blank);
      if (text[at] === ',' || at === before) at++;
      take(blank);
    }
    if (at < text.length) at++;
  }

  function stringAt(): RegExp | undefined {
    return strings.find(([opening]) => text.startsWith(opening, at))?.[1];
  }

  /** Names of a dotted key, up to the first invalid one. */
  function dotted(): Name[] {
    const names: Name[] = [];
    for (;;) {
      take(spaces);
      const range = take(stringAt() ?? bareName);
      if (range.start === range.end) return names;
      names.push({ ...range, text: nameOf(text.slice(range.start, range.end)) });
      take(spaces);
      if (text[at] !== '.') return names;
      at++;
    }
  }

  let table: At = [root, ''];
  for (take(blank); at < text.length; take(blank)) {
    if (text[at] === '[') table = header();
    else assignment(table);
    take(restOfLine);
  }
  return { root, duplicates };
}

const quotedEscape = /\\(?:U([\da-fA-F]{8})|u([\da-fA-F]{4})|x([\da-fA-F]{2})|(.))/g;
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\x1b' };

function nameOf(literal: string): string {
  if (!/^["']/.test(literal)) return literal;
  const inner = literal.slice(1, -1);
  if (literal.startsWith("'") || !inner.includes('\\')) return inner;
  return inner.replaceAll(quotedEscape, (_all, long, short, byte, plain: string | undefined) =>
    plain === undefined
      ? String.fromCodePoint(Math.min(Number.parseInt(long ?? short ?? byte, 16), 0x10ffff))
      : (CONTROLS[plain] ?? plain),
  );
}
