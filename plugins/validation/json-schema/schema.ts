import { type Data, type DataObject, findNear, getKey, isObject, type Pattern, type Site } from '#contract';
import { type ArrayRules, type ObjectRules, readArrayRules, readObjectRules } from './containers.ts';
import { type Draft, findDraft, findReferred, formats, type SchemaDocument } from './drafts.ts';
import type { Findings, Path } from './evaluate.ts';
import { isWhole, type NumberRules, type Numeric, readNumberRules } from './numbers.ts';
import { baseOf, escapeToken, indexNames, ROOT_ADDRESS } from './references.ts';
import { type Combinators, readCombinators } from './validator.ts';
import {
  type CommonRules,
  type Identify,
  readCommonRules,
  readStringRules,
  readType,
  type StringRules,
  type TypeRule,
} from './values.ts';

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

/** What a schema needs of the place it stands at; pointers are those of the schema document. */
export type SchemaSite = Pick<Site<unknown>, 'fault' | 'warn' | 'pattern'>;

/**
 * Reads a schema document: checks it against its draft, resolves references and compiles patterns.
 * Warnings: `JSON_SCHEMA_KEYWORD` for a keyword that is none and looks like one, `JSON_SCHEMA_FORMAT` for a format that
 * checks nothing.
 * @throws ConfigError `JSON_SCHEMA_DRAFT`, `JSON_SCHEMA_INVALID`, `JSON_SCHEMA_REFERENCE` or `PATTERN_INVALID`.
 */
export function readSchema(root: DataObject, { fault, warn, pattern: compile }: SchemaSite): SchemaNode {
  const uri = getKey(root, '$schema');
  if (uri !== undefined && typeof uri !== 'string') throw fault('JSON_SCHEMA_DRAFT', '/$schema', 'must be a string');
  const draft = findDraft(uri);
  if (!draft) {
    throw fault('JSON_SCHEMA_DRAFT', '/$schema', `"${uri}" is not supported; supported are drafts 04, 06 and 07`, {
      hint: '"http://json-schema.org/draft-07/schema#"',
    });
  }
  const mistake = draft.check(withoutExactNumbers(root) as DataObject);
  if (mistake) throw fault('JSON_SCHEMA_INVALID', mistake.pointer, mistake.message, { hint: mistake.hint });
  const names = indexNames(root, draft, (pointer, message) => fault('JSON_SCHEMA_REFERENCE', pointer, message));
  const own: SchemaDocument = { draft, names };
  const read = new Map<DataObject, SchemaNode>();

  const readNode = (schema: Data, pointer: string, outer: string, document: SchemaDocument): SchemaNode => {
    const { draft } = document;
    if (!isObject(schema)) {
      if (typeof schema !== 'boolean') throw fault('JSON_SCHEMA_INVALID', pointer, 'must be a schema');
      return { ...blank(pointer), pass: schema };
    }
    const known = read.get(schema);
    if (known) return known;
    const node = blank(pointer);
    read.set(schema, node);
    const base = baseOf(schema, outer, draft);
    const reference = getKey(schema, '$ref');
    if (typeof reference === 'string') {
      const found = findReferred(reference, base, document);
      if (!found) throw fault('JSON_SCHEMA_REFERENCE', `${pointer}/$ref`, `"${reference}" is not in this document`);
      node.ref = readNode(found.place.schema, found.place.pointer, found.place.base, found.document);
      return node;
    }
    const at = (steps: readonly (string | number)[]) => steps.map((step) => '/' + escapeToken(step)).join('');
    const reader: SchemaReader = {
      schema,
      draft,
      get: (keyword) => (draft.unknown.has(keyword) ? undefined : getKey(schema, keyword)),
      count: (keyword) => {
        const value = getKey(schema, keyword);
        return value === undefined ? null : toNumber(value);
      },
      child: (...steps) => readNode(follow(schema, steps), pointer + at(steps), base, document),
      pattern: (source, ...steps) => compile(source, pointer + at(steps)),
      fault: (message, ...steps) => fault('JSON_SCHEMA_INVALID', pointer + at(steps), message),
    };
    if (document === own) tellSlips(schema, pointer, warn);
    node.type = readType(reader);
    node.combinators = readCombinators(reader);
    node.object = readObjectRules(reader);
    node.array = readArrayRules(reader);
    node.number = readNumberRules(reader);
    node.string = readStringRules(reader);
    node.common = readCommonRules(reader);
    return node;
  };

  return readNode(root, '', ROOT_ADDRESS, own);
}

/** The keywords of all three drafts that check something. */
const KEYWORDS: readonly string[] = [
  ...['$ref', 'type', 'enum', 'const', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'items', 'additionalItems', 'minItems', 'maxItems'],
  ...['uniqueItems', 'contains', 'properties', 'patternProperties', 'additionalProperties', 'propertyNames'],
  ...['required', 'minProperties', 'maxProperties', 'dependencies', 'definitions', 'allOf', 'anyOf', 'oneOf', 'not'],
  ...['if', 'then', 'else'],
];

/** Words that tools put into schemas and that check nothing. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...KEYWORDS,
  ...['id', '$id', '$schema', '$comment', '$defs', 'title', 'description', 'default', 'example', 'examples', 'name'],
  ...['readOnly', 'writeOnly', 'deprecated', 'nullable', 'xml', 'externalDocs', 'contentEncoding', 'contentMediaType'],
]);

/** A mistyped keyword checks nothing, nor does a format that is none, and drafts allow any word for both. */
function tellSlips(schema: DataObject, pointer: string, warn: SchemaSite['warn']): void {
  const format = getKey(schema, 'format');
  if (typeof format === 'string' && !formats.has(format)) {
    const near = findNear(format, formats.keys());
    warn('JSON_SCHEMA_FORMAT', `${pointer}/format`, `"${format}" is not a format that is checked`, {
      hint: near ? `did you mean "${near.name}"?` : `checked are ${[...formats.keys()].join(', ')}`,
    });
  }
  for (const key in schema) {
    if (ANNOTATIONS.has(key) || /^[@$_#]|^x-/.test(key) || key.length < 4) continue;
    const near = findNear(key, KEYWORDS);
    if (!near?.isSure || Object.hasOwn(schema, near.name)) continue;
    const message = `"${key}" is no keyword and checks nothing`;
    warn('JSON_SCHEMA_KEYWORD', `${pointer}/${escapeToken(key)}`, message, {
      hint: `did you mean "${near.name}"?`,
    });
  }
}

function blank(pointer: string): SchemaNode {
  return {
    pointer,
    pass: null,
    ref: null,
    type: null,
    combinators: null,
    object: null,
    array: null,
    number: null,
    string: null,
    common: null,
  };
}

function follow(schema: DataObject, steps: readonly (string | number)[]): Data {
  let value: Data = schema;
  for (const step of steps)
    value = Array.isArray(value) ? value[Number(step)]! : getKey(value as DataObject, `${step}`)!;
  return value;
}

/** A copy in which exact numbers are JavaScript's, for whoever knows no others. */
export function withoutExactNumbers(value: Data): Data {
  if (Array.isArray(value)) return value.map(withoutExactNumbers);
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withoutExactNumbers(child)]));
  }
  return JSON.isRawJSON(value) ? toNumber(value) : value;
}

function toNumber(value: Data): number {
  return Number(JSON.isRawJSON(value) ? value.rawJSON : value);
}
