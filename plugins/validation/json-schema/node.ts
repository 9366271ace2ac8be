import type { Data, DataObject, Pattern } from '#contract';
import type { Combinators } from './combinators.ts';
import type { ArrayRules, ObjectRules } from './containers.ts';
import type { Draft } from './drafts.ts';
import type { Findings, Path } from './findings.ts';
import { isWhole, type NumberRules, type Numeric } from './numbers.ts';
import type { CommonRules, Identify, StringRules, TypeRule } from './values.ts';

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

export function kindOf(value: Data): Kind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'number':
      return isWhole(value) ? 'integer' : 'number';
    default:
      if (value === null) return 'null';
      if (Array.isArray(value)) return 'array';
      return JSON.isRawJSON(value) ? (isWhole(value) ? 'integer' : 'number') : 'object';
  }
}

/** True for every number, exact ones included. */
export function isNumeric(value: Data): value is Numeric {
  return typeof value === 'number' || JSON.isRawJSON(value);
}
