import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import { isMap, isScalar, LineCounter, type Pair, parseDocument, stringify } from 'yaml';

/** Keys and positions of the path to a value. */
export type Path = readonly (string | number)[];

/** Range in a text, by offsets; the end is exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Data as a text, with places that are determined independently of the gateway's code. */
export interface Printed {
  readonly text: string;
  readonly file: string;
  key(path: Path): Range;
  value(path: Path): Range;
}

export function asJson(data: unknown): Printed {
  return jsonText(JSON.stringify(data, null, 2));
}

export function jsonText(text: string): Printed {
  const root = parseTree(text)!;
  const at = (path: Path) => findNodeAtLocation(root, [...path])!;
  return {
    text,
    file: 'mutated.json',
    key: (path) => range(at(path).parent!.children![0]!),
    value: (path) => range(at(path)),
  };
}

function range({ offset, length }: { offset: number; length: number }): Range {
  return { start: offset, end: offset + length };
}

export function asYaml(data: unknown): Printed {
  const text = stringify(data, { aliasDuplicateObjects: false, lineWidth: 0 });
  const document = parseDocument(text, { lineCounter: new LineCounter() });
  const pairOf = (path: Path): Pair => {
    const holder = document.getIn(path.slice(0, -1), true);
    const key = String(path.at(-1));
    return (isMap(holder) ? holder.items : []).find((pair) => isScalar(pair.key) && String(pair.key.value) === key)!;
  };
  const range = (node: unknown): Range => {
    const [start, end] = (node as { range: [number, number, number] }).range;
    return { start, end };
  };
  return {
    text,
    file: 'mutated.yaml',
    key: (path) => range(pairOf(path).key),
    value: (path) => range(path.length === 0 ? document.contents : document.getIn(path, true)),
  };
}
