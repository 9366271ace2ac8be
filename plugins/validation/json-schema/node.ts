import type { Data, DataObject, Pattern } from '#contract';
import type { Numeric } from '../../shared/values/exact-values.ts';
import type { Draft } from './drafts.ts';
import type { Findings, Path } from './findings.ts';

/** A parsed schema, with only the keywords of its draft and with references resolved. A group without rules is null. */
export interface SchemaNode {
  /** JSON pointer in the schema document. */
  readonly pointer: string;
  /** Value of a boolean schema; null for an object. */
  pass: boolean | null;
  /** Targets of `$ref` and of a dynamic reference. */
  references: readonly SchemaNode[] | null;
  /** Whether only the references apply, because the schema has no other rules, or its draft ignores them. */
  bare: boolean;
  type: TypeRule | null;
  combinators: Combinators | null;
  object: ObjectRules | null;
  array: ArrayRules | null;
  number: NumberRules | null;
  string: StringRules | null;
  common: CommonRules | null;
  unevaluated: UnevaluatedRules | null;
}

/** Access to the schema that rules are read from. It has already been checked against the metaschema. */
export interface SchemaReader {
  readonly schema: DataObject;
  readonly draft: Draft;
  /** Returns the value of a keyword; undefined if it is absent or not part of the draft. */
  get(keyword: string): Data | undefined;
  /** Returns the value of a counting keyword, such as `maxItems`. */
  count(keyword: string): number | null;
  /** Returns the schema at a path relative to this one. */
  child(...steps: readonly (string | number)[]): SchemaNode;
  /** Compiles the regular expression at a path. */
  pattern(source: string, ...steps: readonly (string | number)[]): Pattern;
  fault(message: string, ...steps: readonly (string | number)[]): Error;
}

/** State of the validation of one document. */
export interface Run {
  evaluate(node: SchemaNode, value: Data, path: Path | null, findings: Findings, run: Run): void;
  /** Findings of a value for the target of a reference; kept only if schemas are recursive. */
  readonly memo: Map<object, Map<SchemaNode, Findings>> | null;
  identify: Identify | null;
  /** Whether to record which parts of a value have been evaluated; false if no schema requires it. */
  readonly tracks: boolean;
}

/** Returns the direct subschemas of a schema. `here`: the subschema applies to the same value, not to a part of it. */
export function childrenOf(node: SchemaNode): { child: SchemaNode; here: boolean }[] {
  const children: { child: SchemaNode; here: boolean }[] = [];
  const add = (child: SchemaNode | null | undefined, here: boolean) => child && children.push({ child, here });
  for (const child of node.references ?? []) add(child, true);
  const { combinators, object, array, unevaluated } = node;
  if (combinators) {
    for (const list of [combinators.anyOf, combinators.oneOf, combinators.allOf]) {
      for (const child of list ?? []) add(child, true);
    }
    for (const child of [combinators.not, combinators.condition, combinators.whenMet, combinators.whenNot])
      add(child, true);
    for (const { needs } of combinators.dependencies ?? []) if (!Array.isArray(needs)) add(needs as SchemaNode, true);
  }
  if (object) {
    for (const property of object.properties) add(property.node, false);
    for (const property of object.patterns) add(property.node, false);
    add(object.additional, false);
    add(object.names, false);
  }
  if (array) {
    add(array.every, false);
    for (const child of array.each ?? []) add(child, false);
    add(array.additional, false);
    add(array.contains, false);
  }
  add(unevaluated?.items, false);
  add(unevaluated?.properties, false);
  return children;
}

/** Type of a value in messages: a number without a fraction is an `integer`. */
export type Kind = 'null' | 'boolean' | 'object' | 'array' | 'number' | 'integer' | 'string';

export interface TypeRule {
  readonly names: readonly string[];
  readonly accepts: ReadonlySet<Kind>;
  /** Start of the message, before the name of the type. */
  readonly message: string;
}

/** Rules for values of any type. */
export interface CommonRules {
  /** Value of `const`, in an array, because the constant may be `null`. */
  readonly constant: readonly [Data] | null;
  readonly enum: readonly Data[] | null;
  readonly format: string | null;
}

export interface StringRules {
  readonly minLength: number | null;
  readonly maxLength: number | null;
  readonly pattern: Pattern | null;
}

/** Assigns the same number to equal values. Takes linear time: each value is traversed once, however often it is compared. */
export type Identify = (value: Data) => number;

export interface ArrayRules {
  /** Schema for all items. */
  readonly every: SchemaNode | null;
  /** Schemas for the first items, one for each position. */
  readonly each: readonly SchemaNode[] | null;
  /** Schema for the positions beyond `each`. */
  readonly additional: SchemaNode | null;
  readonly minItems: number | null;
  readonly maxItems: number | null;
  readonly unique: boolean;
  readonly contains: SchemaNode | null;
  /** Minimum number of items that must match the schema of `contains`; 1 by default. */
  readonly minContains: number;
  /** Maximum number of items that may match the schema of `contains`. */
  readonly maxContains: number | null;
  /** Whether items that match `contains` count as evaluated. */
  readonly containsEvaluates: boolean;
}

/** Schemas for the parts of a value that no other keyword of the schema, or of those applied in place, has evaluated. */
export interface UnevaluatedRules {
  readonly items: SchemaNode | null;
  readonly properties: SchemaNode | null;
}

export interface ObjectRules {
  readonly minProperties: number | null;
  readonly maxProperties: number | null;
  readonly required: readonly string[];
  /** Declared properties, in the order of the schema. */
  readonly properties: readonly { readonly key: string; readonly node: SchemaNode }[];
  readonly declared: ReadonlySet<string>;
  readonly patterns: readonly { readonly pattern: Pattern; readonly node: SchemaNode }[];
  /** Schema of all other properties; null if they are allowed unconditionally. */
  readonly additional: SchemaNode | null;
  readonly names: SchemaNode | null;
}

/** Rules that apply other schemas to the same value. */
export interface Combinators {
  readonly anyOf: readonly SchemaNode[] | null;
  readonly oneOf: readonly SchemaNode[] | null;
  readonly allOf: readonly SchemaNode[] | null;
  readonly not: SchemaNode | null;
  readonly dependencies: readonly Dependency[] | null;
  /** `if`, `then` and `else`. */
  readonly condition: SchemaNode | null;
  readonly whenMet: SchemaNode | null;
  readonly whenNot: SchemaNode | null;
}

export interface NumberRules {
  readonly multipleOf: Numeric | null;
  readonly maximum: Numeric | null;
  readonly exclusiveMaximum: Numeric | null;
  readonly minimum: Numeric | null;
  readonly exclusiveMinimum: Numeric | null;
}

/** Property names, or a schema, that an object must satisfy if it has a key. */
export interface Dependency {
  readonly key: string;
  readonly needs: readonly string[] | SchemaNode;
}
