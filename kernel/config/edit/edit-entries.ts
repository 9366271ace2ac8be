import type { Data } from '#contract';
import { joinPointer } from '../../values/pointer.ts';
import type { TextRange } from '../syntax/position.ts';
import { type Edit, impossible } from './edit-document.ts';
import type { Editor, Layout } from './editor.ts';
import { indentAt } from './editor.ts';

/** An object or a list in the text. */
export interface Container {
  readonly steps: readonly string[];
  /** Names of the entries of an object or list, in order. */
  readonly names: readonly string[];
  readonly isList: boolean;
}

/** An entry to insert before the one named `before`; null inserts it at the end. */
export interface Added {
  readonly before: string | null;
  readonly name: string | null;
  readonly value: Data;
}

/** Text between entries: white space and comments. */
const between = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|#[^\n]*)*/y;
/** Text that may follow an entry on its line: a comma and a comment. */
const restOfLine = /[ \t]*,?[ \t]*(?:\/\/[^\n]*|#[^\n]*|\/\*[^\n]*?\*\/)?[ \t\r]*(?=\n|$)/y;

/** Removes and inserts entries of a container; the remaining entries keep their place, layout and comments. */
export function* editEntries(
  text: string,
  editor: Editor,
  { steps, names, isList }: Container,
  removed: ReadonlySet<string>,
  added: readonly Added[],
): Generator<Edit> {
  const pointer = joinPointer('', ...steps);
  const layout = editor.layout(steps);
  const places = new Map(names.map((name) => [name, placeOf(text, editor, [...steps, name], layout, isList)]));
  const kept = names.filter((name) => !removed.has(name));
  const lastKept = kept.at(-1)!;
  const edit = ({ start, end }: TextRange, replacement = ''): Edit => ({ pointer, start, end, text: replacement });
  const at = (name: string): TextRange => {
    const place = places.get(name);
    if (place) return place;
    throw impossible(joinPointer(pointer, name), 'is not written in one place');
  };

  for (const name of removed) {
    const index = names.indexOf(name);
    // If the first entry is on the same line as its container, leading entries are removed together, up to the first
    // one that stays.
    const isFirst = layout === 'lines' && !isAlone(text, at(names[0]!).start) && names.indexOf(kept[0]!) > index;
    if (isFirst) {
      if (index === 0) yield edit({ start: at(name).start, end: at(kept[0]!).start });
      continue;
    }
    yield edit(wholeLines(text, withComma(text, at(name), layout)));
  }
  const isLastGone = names.at(-1) !== lastKept;
  const comma = layout === 'commas' ? commaAfter(text, at(lastKept).end) : undefined;
  const news = added.filter(({ before }) => before === null);
  if (isLastGone && comma !== undefined && news.length === 0) yield edit({ start: comma, end: comma + 1 });

  for (const { before, name, value } of added) {
    if (before !== null) yield inFrontOf(at(before), name, value, before);
  }
  // Tables with headers of their own come after the fields of the table that contains them.
  const sibling = kept.findLast((name) => places.get(name)) ?? lastKept;
  if (news.length > 0) yield* behind(at(sibling), news);

  function inFrontOf(place: TextRange, name: string | null, value: Data, next: string): Edit {
    const start = place.start;
    const indent = `\n${text.slice(text.lastIndexOf('\n', start - 1) + 1, start).replace(/\S/g, ' ')}`;
    if (layout === 'headers') return edit({ start, end: start }, `${table(value)}\n\n`);
    const printed = entry(name, value, next);
    if (layout === 'lines') return edit({ start, end: start }, `- ${printed}${indent}`);
    return edit({ start, end: start }, `${printed},${isAlone(text, start) ? indent : ' '}`);
  }

  function* behind(place: TextRange, list: readonly Added[]): Generator<Edit> {
    if (layout === 'headers') {
      if (isLastGone)
        throw impossible(pointer, 'cannot be changed by removing its last entry and adding others at the same time');
      const lead = text.endsWith('\n') ? '\n' : '\n\n';
      const tables = list.map(({ value }) => `${lead}${table(value)}\n`).join('');
      yield edit({ start: text.length, end: text.length }, tables);
      return;
    }
    const printed = list.map(({ name, value }) => entry(name, value, sibling));
    restOfLine.lastIndex = place.end;
    const rest = restOfLine.exec(text);
    const isOnLine = isAlone(text, place.start) || layout === 'lines';
    if (!rest || !isOnLine) {
      const lead = layout === 'commas' ? ', ' : `\n${indentAt(text, place.start)}`;
      const all = printed.map((each) => lead + each).join('');
      const end = comma !== undefined && isLastGone ? comma + 1 : place.end;
      yield edit({ start: place.end, end }, all);
      return;
    }
    const column = place.start - (text.lastIndexOf('\n', place.start - 1) + 1);
    const indent = layout === 'commas' ? indentAt(text, place.start) : ' '.repeat(column);
    const dash = layout === 'lines' && isList ? '- ' : '';
    const parting = layout === 'commas' ? ',' : '';
    const hasComma = comma !== undefined;
    if (layout === 'commas' && !hasComma) yield edit({ start: place.end, end: place.end }, ',');
    const lineEnd = place.end + rest[0].length;
    const isTrailing = hasComma && !isLastGone;
    const lines = printed.map((each, index) => {
      const isEnd = index === printed.length - 1;
      return `\n${indent}${dash}${each}${isEnd && !isTrailing ? '' : parting}`;
    });
    yield edit({ start: lineEnd, end: lineEnd }, lines.join(''));
  }

  function entry(name: string | null, value: Data, sibling: string): string {
    const range = editor.value([...steps, sibling]);
    const printed = range && editor.printEntry(name, value, range);
    if (printed === undefined) throw impossible(pointer, 'cannot contain this entry in the syntax of the file');
    return printed;
  }

  function table(value: Data): string {
    if (steps.length !== 1 || !editor.printTable)
      throw impossible(pointer, 'cannot contain another entry in the syntax of the file');
    return editor.printTable(steps[0]!, value);
  }
}

/** Range of an entry, including its key or leading dash, and all tables below its header. */
function placeOf(
  text: string,
  editor: Editor,
  steps: readonly string[],
  layout: Layout,
  isList: boolean,
): TextRange | undefined {
  if (layout === 'headers') {
    const header = editor.header?.(steps);
    return header && { start: header.start, end: endOfTable(text, header) };
  }
  const value = editor.value(steps);
  if (!value) return undefined;
  if (!isList) {
    const [key] = editor.keys(steps);
    return key && { start: key.start, end: value.end };
  }
  if (layout === 'commas') return value;
  const dash = text.lastIndexOf('-', value.start - 1);
  return text.slice(dash + 1, value.start).trim() === '' ? { start: dash, end: value.end } : undefined;
}

/** Offset of the next header that does not belong to the table or to a table inside it. */
function endOfTable(text: string, { start, end }: TextRange): number {
  const inner = `${text.slice(start, end).replace(/[[\]\s]/g, '')}.`;
  for (const match of text.slice(end).matchAll(/^[ \t]*\[{1,2}([^\]\n]*)\]/gm)) {
    if (!match[1]!.replace(/\s/g, '').startsWith(inner)) return end + match.index;
  }
  return text.length;
}

/** True if only white space precedes an offset on its line. */
function isAlone(text: string, offset: number): boolean {
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === '';
}

function commaAfter(text: string, end: number): number | undefined {
  between.lastIndex = end;
  const at = end + between.exec(text)![0].length;
  return text[at] === ',' ? at : undefined;
}

function withComma(text: string, { start, end }: TextRange, layout: Layout): TextRange {
  const comma = layout === 'commas' ? commaAfter(text, end) : undefined;
  return { start, end: comma === undefined ? end : comma + 1 };
}

/** Whole lines of a range, including trailing comments, if nothing else is on them; otherwise the range itself. */
function wholeLines(text: string, { start, end }: TextRange): TextRange {
  restOfLine.lastIndex = end;
  const rest = restOfLine.exec(text);
  if (!rest || !isAlone(text, start)) return { start, end: end + /^[ \t]*/.exec(text.slice(end, end + 80))![0].length };
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = end + rest[0].length;
  if (lineEnd < text.length) return { start: lineStart, end: lineEnd + 1 };
  return { start: Math.max(0, lineStart - 1), end: lineEnd };
}
