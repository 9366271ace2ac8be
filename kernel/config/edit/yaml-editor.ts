import { type Data, isObject, printJson } from '#contract';
import type { TextRange } from '../syntax/position.ts';
import { yaml } from '../syntax/yaml/text.ts';
import type { CreateEditor } from './editor.ts';
import { type InlineStyle, printInline } from './editor.ts';

/** Strings that never need quotes in YAML, even as a key or in a flow collection. */
const plain = /^(?:[A-Za-z_/][\w./-]*|\d+(?:ns|us|ms|s|m|h))$/;
/** Words that some YAML readers do not parse as strings. */
const reserved = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

const style: InlineStyle = { scalar: printJson, key: printJson, colon: ': ' };

/** Edits YAML. Strings are quoted like the ones they replace; a block list stays a block list, with each entry on one line. */
export const yamlEditor: CreateEditor = (text) => {
  const find = yaml.finder(text);
  const printValue = (value: Data, { start, end }: TextRange) => {
    const literal = text.slice(start, end);
    const isBlock = /^(?:-\s|[^[{'"][^\n]*:\s)/.test(literal);
    const printed = isBlock ? printBlock(value, columnOf(text, start)) : printFlow(value, literal);
    return literal === '' && !/\s/.test(text[start - 1] ?? ' ') ? ` ${printed}` : printed;
  };
  return {
    keys(steps) {
      const key = find(steps, 'key');
      return key ? [key] : [];
    },
    value(steps) {
      const range = find(steps, 'value');
      return range && { start: range.start, end: range.start + text.slice(range.start, range.end).trimEnd().length };
    },
    printKey: printText,
    printBefore(name, value, offset) {
      const entry = `${printText(name, '')}: ${printFlow(value, '')}`;
      const isFlow = /[{,]\s*$/.test(text.slice(0, offset));
      return isFlow ? `${entry}, ` : `${entry}\n${' '.repeat(columnOf(text, offset))}`;
    },
    layout: (steps) => (/[[{]/.test(text[find(steps, 'value')?.start ?? 0] ?? '') ? 'commas' : 'lines'),
    printEntry: (name, value, sibling) =>
      name === null ? printValue(value, sibling) : `${printText(name, '')}: ${printFlow(value, '')}`,
    printValue,
  };
};

function printFlow(value: Data, literal: string): string {
  return typeof value === 'string' ? printText(value, literal) : printInline(value, style);
}

function printBlock(value: Data, column: number): string {
  const lines = Array.isArray(value)
    ? value.map((item) => `- ${printFlow(item, '')}`)
    : isObject(value)
      ? Object.entries(value).map(([key, item]) => `${printText(key, '')}: ${printFlow(item, '')}`)
      : [];
  return lines.length > 0 ? lines.join(`\n${' '.repeat(column)}`) : printFlow(value, '');
}

function printText(content: string, literal: string): string {
  if (literal.startsWith("'") && !/[\n\r\p{Cc}]/u.test(content)) return `'${content.replaceAll("'", "''")}'`;
  const isPlain = !literal.startsWith('"') && plain.test(content) && !reserved.test(content);
  return isPlain ? content : printJson(content);
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}
