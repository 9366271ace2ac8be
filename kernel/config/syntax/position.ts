import { ConfigError, type ConfigErrorOptions } from '#contract';

/** A range of a text: lines and columns start at 1, columns are UTF-16 units; the end is exclusive. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** Another source file of the document; absent for the document's own file. */
  readonly file?: string;
}

/** A range of a text by offsets; the end is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Replacement for a range of a text. */
export interface Mend extends TextRange {
  readonly text: string;
}

/** The part of a field that an error is about. */
export type KeyOrValue = 'key' | 'value';

/** Returns the value at a pointer; undefined if it does not exist. */
export type ValueAt = (pointer: string) => unknown;

/**
 * Position of a value, or of its key, in the text; undefined if the value does not exist.
 * @param range part of a string value to locate, in UTF-16 units.
 */
export type Locate = (pointer: string, which: KeyOrValue, range?: TextRange) => Position | undefined;

/** Finds the range of the value at a path in a text. */
export type Finder = (steps: readonly string[], which: KeyOrValue) => TextRange | undefined;

/** A value in a text, with the positions of its children. */
export interface TextNode {
  readonly key?: TextRange | undefined;
  readonly value: TextRange;
  /** The child at one step of a pointer. */
  child(step: string): TextNode | undefined;
}

/** Creates a node whose children are listed once, on first access. */
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

/** Creates a finder that follows pointers through nodes. */
export function finderOf(root: TextNode | undefined): Finder {
  return (steps, which) => {
    let node = root;
    for (const step of steps) node = node?.child(step);
    return (which === 'key' ? node?.key : undefined) ?? node?.value;
  };
}

/** Another position that contributes to an error. */
export interface RelatedPosition {
  readonly pointer: string;
  readonly message?: string;
  readonly position: Position;
}

/** Position details of an error. */
export interface Placing {
  readonly file: string;
  /** Undefined if the error applies to the whole file. */
  readonly position?: Position | undefined;
  readonly places?: readonly RelatedPosition[];
  readonly mend?: Mend | undefined;
}

/** An error with its own position in the text. The message begins with the position, the reason does not. */
export class PositionedError extends ConfigError {
  readonly reason: string;
  readonly file: string;
  readonly position: Position | undefined;
  readonly places: readonly RelatedPosition[];
  /** Correction of the error, if only one correction is possible. */
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

/** Converts offsets in a text to lines and columns. */
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
