import { type Data, printJson } from '#contract';
import { json } from '../syntax/json/text.ts';
import type { TextRange } from '../syntax/position.ts';
import type { CreateEditor } from './editor.ts';
import { fitsOneLine, gapBefore, type InlineStyle, indentAt, indentUnit, printInline } from './editor.ts';

const style: InlineStyle = { scalar: printJson, key: printJson, colon: ': ' };

/** Edits JSON. Values that fit stay on one line; others are indented like the rest of the text. */
export const jsonEditor: CreateEditor = (text) => {
  const find = json.finder(text);
  const printValue = (value: Data, { start, end }: TextRange) => {
    const inline = printInline(value, style);
    if (fitsOneLine(inline, text.slice(start, end)) || !text.includes('\n')) return inline;
    const lines = JSON.stringify(value, null, indentUnit(text));
    return lines.replaceAll('\n', `\n${indentAt(text, start)}`);
  };
  return {
    keys(steps) {
      const key = find(steps, 'key');
      return key ? [key] : [];
    },
    value: (steps) => find(steps, 'value'),
    printKey: printJson,
    printBefore: (name, value, offset) => `${printJson(name)}: ${printInline(value, style)},${gapBefore(text, offset)}`,
    layout: () => 'commas',
    printEntry: (name, value, sibling) => (name === null ? '' : `${printJson(name)}: `) + printValue(value, sibling),
    printValue,
  };
};
