import { type Data, type DataObject, findNear, getKey, isObject, type Site } from '#contract';
import { readCombinators } from './combinators.ts';
import { readArrayRules, readObjectRules } from './containers.ts';
import { findReferred, type SchemaDocument } from './documents.ts';
import { type Draft, findDraft, formats, KEYWORDS_OF_2019, KEYWORDS_OF_2020 } from './drafts.ts';
import type { SchemaNode, SchemaReader } from './node.ts';
import { readNumberRules } from './numbers.ts';
import { baseOf, escapeToken, indexNames, ROOT_ADDRESS } from './references.ts';
import { type DynamicScope, EMPTY_SCOPE, enterResource, findDynamic } from './scope.ts';
import { readUnevaluated } from './unevaluated.ts';
import { readCommonRules, readStringRules, readType } from './values.ts';

/** Site features needed to read a schema; pointers are relative to the schema document. */
export type SchemaSite = Pick<Site<unknown>, 'fault' | 'warn' | 'pattern'>;

/**
 * Reads a schema document: checks it against its draft, resolves references and compiles patterns. Warnings:
 * `JSON_SCHEMA_KEYWORD` for an unknown keyword that resembles a known one, `JSON_SCHEMA_FORMAT` for a format that is
 * not checked.
 * @throws ConfigError `JSON_SCHEMA_DRAFT`, `JSON_SCHEMA_INVALID`, `JSON_SCHEMA_REFERENCE` or `PATTERN_INVALID`.
 */
export function readSchema(root: DataObject, { fault, warn, pattern: compile }: SchemaSite): SchemaNode {
  const uri = getKey(root, '$schema');
  if (uri !== undefined && typeof uri !== 'string') throw fault('JSON_SCHEMA_DRAFT', '/$schema', 'must be a string');
  const draft = findDraft(uri);
  if (!draft) {
    throw fault(
      'JSON_SCHEMA_DRAFT',
      '/$schema',
      `"${uri}" is not supported; supported are drafts 04, 06, 07, 2019-09 and 2020-12`,
      {
        hint: '"https://json-schema.org/draft/2020-12/schema"',
      },
    );
  }
  const issue = draft.check(withoutExactNumbers(root) as DataObject);
  if (issue) throw fault('JSON_SCHEMA_INVALID', issue.pointer, issue.message, { hint: issue.hint });
  const names = indexNames(root, draft, (pointer, message) => fault('JSON_SCHEMA_REFERENCE', pointer, message));
  const own: SchemaDocument = { draft, names };
  const read = new Map<string, Map<DataObject, SchemaNode>>();

  // References within the schema are relative to `base`, its own address.
  const readNode = (
    schema: Data,
    pointer: string,
    base: string,
    document: SchemaDocument,
    outer: DynamicScope,
  ): SchemaNode => {
    const { draft } = document;
    if (!isObject(schema)) {
      if (typeof schema !== 'boolean') throw fault('JSON_SCHEMA_INVALID', pointer, 'must be a schema');
      return { ...blank(pointer), pass: schema };
    }
    const scope = enterResource(outer, base, document);
    const inScope = read.get(scope.key) ?? new Map<DataObject, SchemaNode>();
    read.set(scope.key, inScope);
    const known = inScope.get(schema);
    if (known) return known;
    const node = blank(pointer);
    inScope.set(schema, node);
    const targets: SchemaNode[] = [];
    for (const keyword of REFERENCES) {
      const reference = getKey(schema, keyword);
      if (typeof reference !== 'string' || draft.unknown.has(keyword)) continue;
      const match =
        keyword === '$ref'
          ? findReferred(reference, base, document)
          : findDynamic(keyword, reference, base, document, scope);
      if (!match) {
        throw fault('JSON_SCHEMA_REFERENCE', `${pointer}/${keyword}`, `"${reference}" is not in this document`);
      }
      const { location } = match;
      targets.push(readNode(location.schema, location.pointer, location.base, match.document, scope));
    }
    if (targets.length > 0) node.references = targets;
    node.bare = targets.length > 0;
    if (node.bare && !draft.besideRef) return node;
    const at = (steps: readonly (string | number)[]) => steps.map((step) => '/' + escapeToken(step)).join('');
    const reader: SchemaReader = {
      schema,
      draft,
      get: (keyword) => (draft.unknown.has(keyword) ? undefined : getKey(schema, keyword)),
      count: (keyword) => {
        const value = reader.get(keyword);
        return value === undefined ? null : toNumber(value);
      },
      child: (...steps) => {
        const child = follow(schema, steps);
        return readNode(child, pointer + at(steps), baseOf(child, base, draft), document, scope);
      },
      pattern: (source, ...steps) => compile(source, pointer + at(steps)),
      fault: (message, ...steps) => fault('JSON_SCHEMA_INVALID', pointer + at(steps), message),
    };
    if (document === own) reportSlips(schema, pointer, draft, warn);
    node.type = readType(reader);
    node.combinators = readCombinators(reader);
    node.object = readObjectRules(reader);
    node.array = readArrayRules(reader);
    node.number = readNumberRules(reader);
    node.string = readStringRules(reader);
    node.common = readCommonRules(reader);
    node.unevaluated = readUnevaluated(reader);
    const { type, combinators, object, array, number, string, common, unevaluated } = node;
    const hasRules = [type, combinators, object, array, number, string, common, unevaluated].some(
      (rule) => rule !== null,
    );
    node.bare &&= !hasRules;
    return node;
  };

  return readNode(root, '', baseOf(root, ROOT_ADDRESS, draft), own, EMPTY_SCOPE);
}

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

/** Keywords of all drafts that check something. */
const KEYWORDS: readonly string[] = [
  ...['$ref', 'type', 'enum', 'const', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'items', 'additionalItems', 'minItems', 'maxItems'],
  ...['uniqueItems', 'contains', 'properties', 'patternProperties', 'additionalProperties', 'propertyNames'],
  ...['required', 'minProperties', 'maxProperties', 'dependencies', 'definitions', 'allOf', 'anyOf', 'oneOf', 'not'],
  ...['if', 'then', 'else', ...KEYWORDS_OF_2019, ...KEYWORDS_OF_2020],
];

/** Keywords that tools add to schemas and that check nothing. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...KEYWORDS,
  ...['id', '$id', '$schema', '$comment', '$defs', 'title', 'description', 'default', 'example', 'examples', 'name'],
  ...['readOnly', 'writeOnly', 'deprecated', 'nullable', 'xml', 'externalDocs', 'contentEncoding', 'contentMediaType'],
]);

/** Mistyped keywords and unknown formats check nothing, but drafts allow any word for both. */
function reportSlips(schema: DataObject, pointer: string, draft: Draft, warn: SchemaSite['warn']): void {
  const format = getKey(schema, 'format');
  if (typeof format === 'string' && !formats.has(format)) {
    const near = findNear(format, formats.keys());
    warn('JSON_SCHEMA_FORMAT', `${pointer}/format`, `"${format}" is not a format that is checked`, {
      hint: near ? `did you mean "${near.name}"?` : `checked are ${[...formats.keys()].join(', ')}`,
    });
  }
  for (const key in schema) {
    if (draft.unknown.has(key)) {
      const message = `"${key}" is not a keyword of the schema's draft and has no effect`;
      warn('JSON_SCHEMA_KEYWORD', `${pointer}/${escapeToken(key)}`, message, { hint: remedyFor(key) });
      continue;
    }
    if (ANNOTATIONS.has(key) || /^[@$_#]|^x-/.test(key) || key.length < 4) continue;
    const near = findNear(key, KEYWORDS);
    if (!near?.isSure || Object.hasOwn(schema, near.name)) continue;
    const message = `"${key}" is not a keyword and has no effect`;
    warn('JSON_SCHEMA_KEYWORD', `${pointer}/${escapeToken(key)}`, message, {
      hint: `did you mean "${near.name}"?`,
    });
  }
}

/** Returns the change to make so that a keyword applies that the schema's draft does not define. */
function remedyFor(key: string): string {
  if (key === 'additionalItems') return 'use "items" next to "prefixItems"';
  if (key.startsWith('$recursive')) return `"$dynamic${key.slice('$recursive'.length)}"`;
  const draft = KEYWORDS_OF_2020.includes(key) ? '2020-12' : KEYWORDS_OF_2019.includes(key) ? '2019-09' : '';
  return `"$schema": "${draft ? `https://json-schema.org/draft/${draft}/schema` : 'http://json-schema.org/draft-07/schema#'}"`;
}

function blank(pointer: string): SchemaNode {
  return {
    pointer,
    pass: null,
    references: null,
    bare: false,
    type: null,
    combinators: null,
    object: null,
    array: null,
    number: null,
    string: null,
    common: null,
    unevaluated: null,
  };
}

function follow(schema: DataObject, steps: readonly (string | number)[]): Data {
  let value: Data = schema;
  for (const step of steps)
    value = Array.isArray(value) ? value[Number(step)]! : getKey(value as DataObject, `${step}`)!;
  return value;
}

/** Returns a copy with exact numbers converted to JavaScript numbers, for code that does not support them. */
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
