/** A node of a template as it is written. `at` is its offset in the text, in UTF-16 units. */
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
  /** Its variables get the key and the item of each round. */
  readonly pipeline: Pipeline;
  readonly body: readonly Node[];
  readonly otherwise: readonly Node[];
}

/** Commands, each of which gets the result of the one before it as its last argument. */
export interface Pipeline {
  readonly at: number;
  /** Slots of the variables that get its value. */
  readonly variables: readonly number[];
  readonly commands: readonly Command[];
}

export interface Command {
  readonly at: number;
  /** The first may be a function or a method; the others are its arguments. */
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

/** A template with a name: the text itself, or what `define` and `block` have made. */
export interface Definition {
  readonly name: string;
  readonly nodes: readonly Node[];
  /** Of its variables, `$` included. */
  readonly slots: number;
}
