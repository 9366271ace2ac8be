import { type Data, type DataObject, getKey, isObject } from '#contract';
import { readArrayRules } from './array-rules.ts';
import { readCombinators } from './combinators.ts';
import { findDraft } from './draft.ts';
import type { SchemaNode, SchemaReader } from './node.ts';
import { readNumberRules } from './number-rules.ts';
import { readObjectRules } from './object-rules.ts';
import { compilePattern } from './pattern.ts';
import { baseOf, escapeToken, indexNames, ROOT_ADDRESS, resolveReference } from './references.ts';
import { readCommonRules, readStringRules, readType } from './value-rules.ts';

/** Makes the error for a mistake in a schema. @param pointer relative to the schema document. */
export type SchemaFault = (code: string, pointer: string, message: string) => Error;

/**
 * Reads a schema document: checks it against its draft, resolves references and compiles patterns.
 * @throws what `fault` makes: `JSON_SCHEMA_DRAFT`, `JSON_SCHEMA_INVALID`, `JSON_SCHEMA_REFERENCE` or
 *   `JSON_SCHEMA_PATTERN`.
 */
export function readSchema(root: DataObject, fault: SchemaFault): SchemaNode {
  const uri = getKey(root, '$schema');
  if (uri !== undefined && typeof uri !== 'string') throw fault('JSON_SCHEMA_DRAFT', '/$schema', 'must be a string');
  const draft = findDraft(uri);
  if (!draft) {
    throw fault('JSON_SCHEMA_DRAFT', '/$schema', `"${uri}" is not supported; supported are drafts 04, 06 and 07`);
  }
  const mistake = draft.check(withoutExactNumbers(root) as DataObject);
  if (mistake) throw fault('JSON_SCHEMA_INVALID', mistake.pointer, mistake.message);
  const names = indexNames(root, draft, (pointer, message) => fault('JSON_SCHEMA_REFERENCE', pointer, message));
  const read = new Map<DataObject, SchemaNode>();

  const readNode = (schema: Data, pointer: string, outer: string): SchemaNode => {
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
      const place = resolveReference(reference, base, names, draft);
      if (!place) throw fault('JSON_SCHEMA_REFERENCE', `${pointer}/$ref`, `"${reference}" is not in this document`);
      node.ref = readNode(place.schema, place.pointer, place.base);
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
      child: (...steps) => readNode(follow(schema, steps), pointer + at(steps), base),
      pattern: (source, ...steps) => {
        try {
          return compilePattern(source);
        } catch (error) {
          throw fault('JSON_SCHEMA_PATTERN', pointer + at(steps), (error as Error).message);
        }
      },
      fault: (message, ...steps) => fault('JSON_SCHEMA_INVALID', pointer + at(steps), message),
    };
    node.type = readType(reader);
    node.combinators = readCombinators(reader);
    node.object = readObjectRules(reader);
    node.array = readArrayRules(reader);
    node.number = readNumberRules(reader);
    node.string = readStringRules(reader);
    node.common = readCommonRules(reader);
    return node;
  };

  return readNode(root, '', ROOT_ADDRESS);
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
