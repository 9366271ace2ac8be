/** A node of a parsed template. `at` is its offset in the text, in UTF-16 units. */
export type Node =
  | { readonly kind: 'text'; readonly at: number; readonly text: string }
  | { readonly kind: 'action'; readonly at: number; readonly pipeline: Pipeline }
  | Branch
  | Range
  | { readonly kind: 'template'; readonly at: number; readonly name: string; readonly pipeline: Pipeline | null }
  | { readonly kind: 'break' | 'continue'; readonly at: number };

export interface Branch {
  readonly kind: 'if' | 'with';
  readonly at: number;
  readonly pipeline: Pipeline;
  readonly body: readonly Node[];
  readonly otherwise: readonly Node[];
}

export interface Range {
  readonly kind: 'range';
  readonly at: number;
  /** The variables of a `range` are set to the key and the item of each iteration. */
  readonly pipeline: Pipeline;
  readonly body: readonly Node[];
  readonly otherwise: readonly Node[];
}

/** Commands; each receives the result of the previous one as its last argument. */
export interface Pipeline {
  readonly at: number;
  /** Slots of the variables to which the value of the pipeline is assigned. */
  readonly variables: readonly number[];
  readonly commands: readonly Command[];
}

export interface Command {
  readonly at: number;
  /** The first operand may be a function or a method; the other operands are its arguments. */
  readonly operands: readonly [Operand, ...Operand[]];
}

export type Operand =
  | { readonly kind: 'literal'; readonly at: number; readonly value: string | number | bigint | boolean }
  | { readonly kind: 'nil' | 'dot'; readonly at: number }
  | { readonly kind: 'variable'; readonly at: number; readonly slot: number; readonly path: readonly string[] }
  | { readonly kind: 'field'; readonly at: number; readonly path: readonly string[] }
  | { readonly kind: 'chain'; readonly at: number; readonly base: Operand; readonly path: readonly string[] }
  | { readonly kind: 'function'; readonly at: number; readonly name: string }
  | { readonly kind: 'pipeline'; readonly at: number; readonly pipeline: Pipeline };

/** A named template: the main text, or the content of a `define` or `block`. */
export interface Definition {
  readonly name: string;
  readonly nodes: readonly Node[];
  /** Number of variables of the template, including `$`. */
  readonly slots: number;
}
