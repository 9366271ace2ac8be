import { Ajv } from 'ajv';
import { type Data, type DataObject, isObject } from '#contract';
import { equals } from '../../shared/values/exact-values.ts';
import { formats } from './drafts.ts';
import type { SchemaNode } from './node.ts';
import { isMultiple } from './numbers.ts';
import type { SchemaSite } from './read.ts';
import { createIdentify, eachDuplicate } from './values.ts';

type JsonSchema = boolean | Record<string, unknown>;

/**
 * Translates a schema for the code generator: one draft for all, references resolved, and the keywords `distinct`,
 * `unit` and `oneEqual` for the rules that the generator does not implement reliably.
 */
export function translate(root: SchemaNode): JsonSchema {
  const definitions: Record<string, JsonSchema> = {};
  const names = new Map<SchemaNode, string>();
  const refer = (target: SchemaNode): JsonSchema => {
    let name = names.get(target);
    if (name === undefined) {
      name = `schema${names.size}`;
      names.set(target, name);
      definitions[name] = one(target);
    }
    return { $ref: `#/definitions/${name}` };
  };
  const one = (node: SchemaNode): JsonSchema => {
    if (node.pass !== null) return node.pass;
    const references = node.references?.map(refer);
    if (node.bare && references?.length === 1) return references[0]!;
    return present({
      type: node.type?.names,
      ...combinators(node, one, references),
      ...object(node, one),
      ...array(node, one),
      ...values(node),
    });
  };
  const schema = one(root);
  return typeof schema === 'boolean' ? schema : { ...schema, definitions };
}

/** The name is in a variable, because an object literal with a member named `then` would look like a promise. */
const whenMet = 'then';

type Translate = (node: SchemaNode) => JsonSchema;

function combinators(
  { combinators: rules }: SchemaNode,
  one: Translate,
  references: readonly JsonSchema[] | undefined,
): Record<string, unknown> {
  if (!rules) return { allOf: references };
  const { not, dependencies } = rules;
  return {
    anyOf: rules.anyOf?.map(one),
    oneOf: rules.oneOf?.map(one),
    allOf: references || rules.allOf ? [...(references ?? []), ...(rules.allOf ?? []).map(one)] : null,
    not: not && one(not),
    if: rules.condition && one(rules.condition),
    [whenMet]: rules.whenMet && one(rules.whenMet),
    else: rules.whenNot && one(rules.whenNot),
    dependencies:
      dependencies &&
      Object.fromEntries(
        dependencies.map(({ key, needs }) => [key, Array.isArray(needs) ? needs : one(needs as SchemaNode)]),
      ),
  };
}

function object({ object: rules }: SchemaNode, one: Translate): Record<string, unknown> {
  if (!rules) return {};
  return {
    minProperties: rules.minProperties,
    maxProperties: rules.maxProperties,
    required: rules.required,
    properties: Object.fromEntries(rules.properties.map(({ key, node }) => [key, one(node)])),
    patternProperties: Object.fromEntries(rules.patterns.map(({ pattern, node }) => [pattern.source, one(node)])),
    additionalProperties: rules.additional && one(rules.additional),
    propertyNames: rules.names && one(rules.names),
  };
}

function array({ array: rules }: SchemaNode, one: Translate): Record<string, unknown> {
  if (!rules) return {};
  return {
    items: rules.each ? rules.each.map(one) : rules.every && one(rules.every),
    additionalItems: rules.additional && one(rules.additional),
    // The generated code does not reliably check `contains` for an empty array, so at least one item is required.
    minItems: rules.contains ? Math.max(1, rules.minItems ?? 0) : rules.minItems,
    maxItems: rules.maxItems,
    distinct: rules.unique || null,
    contains: rules.contains && one(rules.contains),
  };
}

function values({ number, string, common }: SchemaNode): Record<string, unknown> {
  const choices = common?.enum;
  const simple = choices && choices.length > 0 && choices.every(isScalar);
  const lists = [simple ? null : choices, common?.constant].filter((list) => list != null);
  return {
    unit: number?.multipleOf,
    maximum: number?.maximum,
    exclusiveMaximum: number?.exclusiveMaximum,
    minimum: number?.minimum,
    exclusiveMinimum: number?.exclusiveMinimum,
    minLength: string?.minLength,
    maxLength: string?.maxLength,
    pattern: string?.pattern?.source,
    format: common?.format,
    enum: simple ? choices : null,
    oneEqual: lists.length > 0 ? lists : null,
  };
}

function isScalar(value: Data): boolean {
  return typeof value !== 'object' || value === null;
}

function present(keywords: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(keywords).filter(([, value]) => value != null));
}

/** Whether the code generator, which implements draft 07, knows the rules of a schema. */
export function isProvable({ unevaluated, array, combinators }: SchemaNode): boolean {
  const keys = combinators?.dependencies?.map(({ key }) => key) ?? [];
  return (
    unevaluated === null &&
    (array === null || (array.minContains === 1 && array.maxContains === null)) &&
    new Set(keys).size === keys.length
  );
}

/** Returns true if a document without exact numbers is certainly valid. */
export type Proof = (document: Data) => boolean;

/**
 * Generates code that quickly accepts valid documents. Only acceptance counts; a document that it does not accept is
 * examined in full.
 *
 * @returns null for schemas that are nested too deeply for the generator, or that generated code would misread (limits
 *   beyond JavaScript's numbers, keys named like prototype members).
 */
export function compileProof(
  root: SchemaNode,
  schema: DataObject,
  { pattern }: Pick<SchemaSite, 'pattern'>,
): Proof | null {
  if (!isPlain(schema)) return null;
  const ajv = new Ajv({
    strict: false,
    meta: false,
    validateSchema: false,
    logger: false,
    messages: false,
    addUsedSchema: false,
    formats: Object.fromEntries(formats),
    code: { regExp: Object.assign((source: string) => pattern(source, ''), { code: '' }) },
  });
  ajv.addKeyword({ keyword: 'distinct', type: 'array', errors: false, validate: isDistinct });
  ajv.addKeyword({ keyword: 'unit', type: 'number', errors: false, validate: isTimes });
  ajv.addKeyword({ keyword: 'oneEqual', errors: false, validate: isAmong });
  try {
    return ajv.compile(translate(root)) as Proof;
  } catch (error) {
    // Documents are still validated by the interpreter if only the code generator exceeds the stack.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Replaces the generator's own rule, which compares every item with every other item. */
function isDistinct(_on: true, items: readonly Data[]): boolean {
  let distinct = true;
  eachDuplicate(items, createIdentify(), () => {
    distinct = false;
  });
  return distinct;
}

/** Replaces the generator's own rule, which divides binary fractions, in which 0.3 is not a multiple of 0.1. */
function isTimes(unit: number, value: number): boolean {
  return isMultiple(value, unit);
}

/** Replaces the generator's own rule, which calls `valueOf` of the document's objects, although that can be any value. */
function isAmong(lists: readonly (readonly Data[])[], value: Data): boolean {
  return lists.every((choices) => choices.some((choice) => equals(value, choice)));
}

function isPlain(value: Data): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  if (isObject(value)) return Object.entries(value).every(([key, child]) => isPlain(key) && isPlain(child));
  if (typeof value === 'string') return !(value in Object.prototype);
  return !JSON.isRawJSON(value);
}
