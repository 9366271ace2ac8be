import type { Data, DataObject, Pattern } from '#contract';
import type { Numeric } from '../../services/exact-values.ts';
import type { Draft } from './drafts.ts';
import type { Findings, Path } from './findings.ts';

/** One schema, read: only what its draft knows, references resolved. A group is null when it has no rule. */
export interface SchemaNode {
  /** JSON pointer in the schema document. */
  readonly pointer: string;
  /** A schema that is just `true` or `false`; null for an object. */
  pass: boolean | null;
  /** With a `$ref` nothing else counts. */
  ref: SchemaNode | null;
  type: TypeRule | null;
  combinators: Combinators | null;
  object: ObjectRules | null;
  array: ArrayRules | null;
  number: NumberRules | null;
  string: StringRules | null;
  common: CommonRules | null;
}

/** What the rule readers need of the schema they read from. The metaschema has already been checked. */
export interface SchemaReader {
  readonly schema: DataObject;
  readonly draft: Draft;
  /** The value of a keyword; undefined when absent or not of this draft. */
  get(keyword: string): Data | undefined;
  /** A keyword that counts something. */
  count(keyword: string): number | null;
  /** The schema found by these steps from here. */
  child(...steps: readonly (string | number)[]): SchemaNode;
  /** A regular expression found by these steps. */
  pattern(source: string, ...steps: readonly (string | number)[]): Pattern;
  fault(message: string, ...steps: readonly (string | number)[]): Error;
}

/** One document being checked. */
export interface Run {
  evaluate(node: SchemaNode, value: Data, path: Path | null, findings: Findings, run: Run): void;
  /** Findings of a value against the target of a reference; kept only where schemas are recursive. */
  readonly memo: Map<object, Map<SchemaNode, Findings>> | null;
  identify: Identify | null;
}

/** Every schema directly inside one. `here`: it is applied to the same value, not to a part of it. */
export function childrenOf(node: SchemaNode): { child: SchemaNode; here: boolean }[] {
  const children: { child: SchemaNode; here: boolean }[] = [];
  const add = (child: SchemaNode | null | undefined, here: boolean) => child && children.push({ child, here });
  add(node.ref, true);
  const { combinators, object, array } = node;
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
  return children;
}

/** The type of a value as messages give it: a number without a fraction is an `integer`. */
export type Kind = 'null' | 'boolean' | 'object' | 'array' | 'number' | 'integer' | 'string';

export interface TypeRule {
  readonly names: readonly string[];
  readonly accepts: ReadonlySet<Kind>;
  /** The message up to the type that was given. */
  readonly message: string;
}

/** Rules for values of any type. */
export interface CommonRules {
  /** In an array, since a constant may be `null`. */
  readonly constant: readonly [Data] | null;
  readonly enum: readonly Data[] | null;
  readonly format: string | null;
}

export interface StringRules {
  readonly minLength: number | null;
  readonly maxLength: number | null;
  readonly pattern: Pattern | null;
}

/** Gives equal values the same number. Linear: each value is looked into once, however often it is asked for. */
export type Identify = (value: Data) => number;

export interface ArrayRules {
  /** One schema for all items. */
  readonly every: SchemaNode | null;
  /** One schema for each position. */
  readonly each: readonly SchemaNode[] | null;
  /** For the positions beyond `each`. */
  readonly additional: SchemaNode | null;
  readonly minItems: number | null;
  readonly maxItems: number | null;
  readonly unique: boolean;
  readonly contains: SchemaNode | null;
}

export interface ObjectRules {
  readonly minProperties: number | null;
  readonly maxProperties: number | null;
  readonly required: readonly string[];
  /** In the order of the schema. */
  readonly properties: readonly { readonly key: string; readonly node: SchemaNode }[];
  readonly declared: ReadonlySet<string>;
  readonly patterns: readonly { readonly pattern: Pattern; readonly node: SchemaNode }[];
  /** Null when any other property will do. */
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

/** A list of names, or a schema, that an object must satisfy when it has a key. */
export interface Dependency {
  readonly key: string;
  readonly needs: readonly string[] | SchemaNode;
}
