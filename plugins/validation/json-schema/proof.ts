import { Ajv } from 'ajv';
import { type Data, type DataObject, isObject } from '#contract';
import { isMultiple } from './decimal.ts';
import { createIdentify, eachDuplicate, equals } from './equality.ts';
import { formats } from './formats.ts';
import type { SchemaNode } from './node.ts';
import type { SchemaSite } from './read.ts';
import { translate } from './translate.ts';

/** True when a document without exact numbers is surely valid. */
export type Proof = (document: Data) => boolean;

/**
 * The fast way to accept a document: generated code. Only its yes counts; what it does not accept is examined.
 *
 * @returns null for schemas that generated code would misread (limits beyond JavaScript's numbers, keys named like parts
 *   of the prototype).
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
  return ajv.compile(translate(root)) as Proof;
}

/** The generator's own rule compares every item with every other. */
function isDistinct(_on: true, items: readonly Data[]): boolean {
  let distinct = true;
  eachDuplicate(items, createIdentify(), () => {
    distinct = false;
  });
  return distinct;
}

/** The generator's own rule divides binary fractions, in which 0.3 is no multiple of 0.1. */
function isTimes(unit: number, value: number): boolean {
  return isMultiple(value, unit);
}

/** The generator's own rule calls `valueOf` of the document's objects, which may be anything. */
function isAmong(lists: readonly (readonly Data[])[], value: Data): boolean {
  return lists.every((choices) => choices.some((choice) => equals(value, choice)));
}

function isPlain(value: Data): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  if (isObject(value)) return Object.entries(value).every(([key, child]) => isPlain(key) && isPlain(child));
  if (typeof value === 'string') return !(value in Object.prototype);
  return !JSON.isRawJSON(value);
}
