import { ConfigError, type ConfigErrorOptions } from '#contract';

/** A range of a text: lines and columns count from 1, columns in UTF-16 units; the end is exclusive. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** Of another file than that of the document: one that it is made of. */
  readonly file?: string;
}

/** A range of a text by offsets, the end exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** What to write in the place of a range of a text. */
export interface Mend extends TextRange {
  readonly text: string;
}

/** What of a field a mistake is about. */
export type KeyOrValue = 'key' | 'value';

/** The value a pointer leads to; undefined when there is none. */
export type ValueAt = (pointer: string) => unknown;

/**
 * Where a value, or the key before it, stands in the text; undefined when there is no such value.
 * @param range of a string value, in UTF-16 units: where that part of it stands.
 */
export type Locate = (pointer: string, which: KeyOrValue, range?: TextRange) => Position | undefined;

/** Finds where the value a pointer leads to stands in a text. */
export type Finder = (steps: readonly string[], which: KeyOrValue) => TextRange | undefined;

/** A value in a text, with the places of what it holds. */
export interface TextNode {
  readonly key?: TextRange | undefined;
  readonly value: TextRange;
  /** The place behind one step of a pointer. */
  child(step: string): TextNode | undefined;
}

/** A place whose inner places are listed when one of them is first asked for, and only once. */
export function textNode(
  value: TextRange,
  key: TextRange | undefined,
  list: () => Iterable<readonly [step: string, place: TextNode]>,
): TextNode {
  let inner: Map<string, TextNode> | undefined;
  return {
    key,
    value,
    child(step) {
      inner ??= new Map(list());
      return inner.get(step);
    },
  };
}

/** Follows pointers through places. */
export function finderOf(root: TextNode | undefined): Finder {
  return (steps, which) => {
    let node = root;
    for (const step of steps) node = node?.child(step);
    return (which === 'key' ? node?.key : undefined) ?? node?.value;
  };
}

/** Another place that has a part in a mistake. */
export interface RelatedPosition {
  readonly pointer: string;
  readonly message?: string;
  readonly position: Position;
}

/** What a mistake knows of its place by itself. */
export interface Placing {
  readonly file: string;
  /** Undefined when the whole file is meant. */
  readonly position?: Position | undefined;
  readonly places?: readonly RelatedPosition[];
  readonly mend?: Mend | undefined;
}

/** A mistake that knows its place in the text by itself. The message begins with the place, the reason does not. */
export class PositionedError extends ConfigError {
  readonly reason: string;
  readonly file: string;
  readonly position: Position | undefined;
  readonly places: readonly RelatedPosition[];
  /** What would make it good without a choice. */
  readonly mend: Mend | undefined;

  constructor(
    code: string,
    pointer: string,
    reason: string,
    { file, position, places = [], mend, ...options }: ConfigErrorOptions & Placing,
  ) {
    const where = position ? `${file}:${position.line}:${position.column}` : file;
    super(code, pointer, `${where}: ${reason}`, options);
    this.reason = reason;
    this.file = file;
    this.position = position;
    this.places = places;
    this.mend = mend;
  }
}

/** Turns offsets of a text into lines and columns. */
export function lineIndex(text: string): (range: TextRange) => Position {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const find = (offset: number): [line: number, column: number] => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return [low + 1, offset - starts[low]! + 1];
  };
  return ({ start, end }) => {
    const [line, column] = find(start);
    const [endLine, endColumn] = find(Math.max(start, end));
    return { line, column, endLine, endColumn };
  };
}
