import {
  addressesIn,
  beginsPrivateKey,
  endsPrivateKey,
  mayHoldSecret,
  secretPointers,
  tokensIn,
} from '../../config/index.ts';
import type { Findings } from './format.ts';

/** Range of columns in a line, from 0, end exclusive. */
export type Span = readonly [from: number, to: number];

/** Returns the secrets on a line (from 1), left to right; they can touch and overlap. */
export type Masks = (line: number, text: string) => readonly Span[];

/** Finds the secrets of a file: by its fields if it could be parsed, otherwise by the look of its lines. */
export function createMasks({
  document,
  text = '',
  isSecret,
}: Pick<Findings, 'document' | 'text' | 'isSecret'>): Masks {
  return document ? masksOfDocument(document, isSecret) : masksOfText(text);
}

function masksOfDocument(document: NonNullable<Findings['document']>, isSecret: Findings['isSecret']): Masks {
  let byLine: Map<number, Span[]> | undefined;
  const collect = (): Map<number, Span[]> => {
    const results = new Map<number, Span[]>();
    for (const pointer of secretPointers(document.data, isSecret)) {
      const position = document.locate(pointer, 'value');
      if (!position || position.file !== undefined) continue;
      for (let line = position.line; line <= position.endLine; line++) {
        const from = line === position.line ? position.column - 1 : 0;
        const to = line === position.endLine ? position.endColumn - 1 : Infinity;
        const spans = results.get(line);
        if (spans) spans.push([from, to]);
        else results.set(line, [[from, to]]);
      }
    }
    return results;
  };
  return (line) => {
    byLine ??= collect();
    return byLine.get(line) ?? [];
  };
}

const nameAndSign = /([\w-]+)["']?\s*[:=]\s*/g;
/** Matches a value: a string, or the rest of the line. */
const value = /"(?:\\.|[^"\\])*"?|'[^']*'?|.*/y;

function masksOfText(text: string): Masks {
  const inKey = new Set<number>();
  let isInside = false;
  text.split('\n').forEach((content, index) => {
    isInside ||= beginsPrivateKey(content);
    if (isInside) inKey.add(index + 1);
    if (endsPrivateKey(content)) isInside = false;
  });
  const byLine = new Map<number, Span[]>();
  return (line, content) => {
    const spans = byLine.get(line) ?? (inKey.has(line) ? [[0, Infinity] as const] : spansOf(content));
    byLine.set(line, spans);
    return spans;
  };
}

function spansOf(content: string): Span[] {
  const named = Array.from(content.matchAll(nameAndSign)).filter(
    ([, name = '']) => name === 'key' || mayHoldSecret(name),
  );
  return [
    ...named.map(({ 0: { length }, index }) => valueAt(content, index + length)),
    ...[...addressesIn(content), ...tokensIn(content)].map(({ start, end }): Span => [start, end]),
  ].sort(([one], [other]) => one - other);
}

function valueAt(content: string, start: number): Span {
  value.lastIndex = start;
  return [start, start + value.exec(content)![0].length];
}
