import { ConfigError } from '#contract';

/** A stretch of a text: lines and columns count from 1, the end is exclusive. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** A stretch of a text by offsets, the end exclusive. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** What of a field a mistake is about. */
export type Part = 'key' | 'value';

/** Finds where the value a pointer leads to stands in a text. */
export type Finder = (steps: readonly string[], part: Part) => Stretch | undefined;

/** A mistake that knows its place in the text by itself, or names other places that have a part in it. */
export class PlacedError extends ConfigError {
  /** Where it stands; undefined when the pointer tells. */
  readonly position: Position | undefined;
  /** JSON pointers of the other places. */
  readonly related: readonly string[];

  constructor(
    code: string,
    pointer: string,
    message: string,
    options: { hint?: string; cause?: unknown; position?: Position; related?: readonly string[] } = {},
  ) {
    super(code, pointer, message, options);
    this.position = options.position;
    this.related = options.related ?? [];
  }
}

/** Turns offsets of a text into lines and columns. */
export function lineIndex(text: string): (stretch: Stretch) => Position {
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
