import { type Node, parseTree, stripComments } from 'jsonc-parser';
import { parseExact } from '#contract';
import { finderOf, type TextNode, type TextRange, textNode } from '../position.ts';
import { type Format, type Parsed, syntaxFault } from '../text-format.ts';
import { duplicateKeys } from './duplicate-keys.ts';
import { jsonSyntaxFaults } from './syntax.ts';

/** JSON with exact numbers. Comments are tolerated and reported; duplicate keys are errors. */
export const json: Format = {
  parse(text) {
    try {
      return { data: parseExact(text), faults: duplicateKeys(text) };
    } catch (error) {
      const faults = jsonSyntaxFaults(text);
      return faults.length > 0 ? { data: undefined, faults } : parseCommented(text, error as Error);
    }
  },
  finder(text) {
    const root = parseTree(text);
    return finderOf(root && placeOfNode(root));
  },
  literalStyle: (source) => (source.startsWith('"') ? { open: 1, close: 1, escape: escapeSequence } : undefined),
};

const escapeSequence = /\\(?:u[\da-fA-F]{4}|[\s\S])/y;

/** @param error the error of parsing the text unchanged. */
function parseCommented(text: string, error: Error): Parsed {
  if (error instanceof RangeError) throw error;
  const bare = stripComments(text, ' ');
  try {
    return { data: parseExact(bare), faults: duplicateKeys(bare), comment: firstComment(text, bare) };
  } catch (inner) {
    if (inner instanceof RangeError) throw inner;
    const start = Number(/at position (\d+)/.exec((inner as Error).message)?.[1] ?? 0);
    return {
      data: undefined,
      faults: [syntaxFault((inner as Error).message, { start, end: start })],
    };
  }
}

function firstComment(text: string, bare: string): TextRange {
  let start = 0;
  while (text[start] === bare[start]) start++;
  const end =
    text[start + 1] === '*' ? text.indexOf('*/', start + 2) + 2 : text.slice(start).search(/[\r\n]|$/) + start;
  return { start, end };
}

function placeOfNode(node: Node, key?: Node): TextNode {
  return textNode(rangeOf(node), key && rangeOf(key), () => innerPlaces(node));
}

function innerPlaces({ type, children = [] }: Node): [string, TextNode][] {
  if (type === 'array') return children.map((item, index) => [String(index), placeOfNode(item)]);
  return children.flatMap(({ children: [key, value] = [] }) =>
    key && value ? [[String(key.value), placeOfNode(value, key)]] : [],
  );
}

function rangeOf({ offset, length }: Node): TextRange {
  return { start: offset, end: offset + length };
}
