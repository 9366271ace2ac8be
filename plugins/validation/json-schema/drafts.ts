import { createRequire } from 'node:module';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type Core from 'ajv/dist/core.js';
import Ajv04 from 'ajv-draft-04';
import addFormats from 'ajv-formats';
import { type DataObject, nearest } from '#contract';

/** A version of JSON Schema: its keywords and the rules for its schemas. */
export interface Draft {
  /** Keywords with which a schema declares its address. */
  readonly ids: readonly string[];
  /** Keywords that this version does not define; they are ignored. */
  readonly unknown: ReadonlySet<string>;
  /** Whether the keywords next to `$ref` apply; older versions ignore them. */
  readonly besideRef: boolean;
  /** Keywords with which a schema declares a name for references, `#name`. */
  readonly anchors: readonly string[];
  /** Whether `contains` evaluates the items that match it, so that `unevaluatedItems` does not apply to them. */
  readonly containsEvaluates: boolean;
  /** Returns the first error in a schema; null for none. */
  check(schema: DataObject): SchemaIssue | null;
}

export interface SchemaIssue {
  readonly pointer: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

const conditionals = ['if', 'then', 'else'];

/** Keywords that draft 2019-09 introduced, and those of draft 2020-12. */
export const KEYWORDS_OF_2019: readonly string[] = [
  ...['$anchor', '$recursiveRef', '$recursiveAnchor', 'dependentRequired', 'dependentSchemas'],
  ...['minContains', 'maxContains', 'unevaluatedItems', 'unevaluatedProperties'],
];
export const KEYWORDS_OF_2020: readonly string[] = ['prefixItems', '$dynamicRef', '$dynamicAnchor'];
const later = [...KEYWORDS_OF_2019, ...KEYWORDS_OF_2020];

/** Properties that drafts 04, 06 and 07 have in common. */
const early = { besideRef: false, anchors: [], containsEvaluates: false } as const;

/**
 * Returns the draft that a schema declares in `$schema`; without it, the keywords of drafts 04, 06 and 07 apply.
 * @returns undefined for an unsupported draft.
 */
export function findDraft(uri: string | undefined): Draft | undefined {
  if (uri === undefined) return makeDraft('any');
  const address = /^https?:\/\/json-schema\.org\/(?:(draft-0[467]|draft\/(?:2019-09|2020-12))\/)?schema#?$/;
  const [, name] = address.exec(uri) ?? [null, null];
  return name === null ? undefined : makeDraft(name ?? 'any');
}

function makeDraft(name: string): Draft {
  switch (name) {
    case 'draft-04':
      return {
        ...early,
        ids: ['id'],
        unknown: new Set(['const', 'contains', 'propertyNames', ...conditionals, ...later]),
        check: checkWith(name, () => new Ajv04.default(options), 'http://json-schema.org/draft-04/schema#'),
      };
    case 'draft-06':
      return {
        ...early,
        ids: ['$id'],
        unknown: new Set([...conditionals, ...later]),
        check: checkWith(
          name,
          () => new Ajv(options).addMetaSchema(draft06()),
          'http://json-schema.org/draft-06/schema#',
        ),
      };
    case 'draft-07':
      return {
        ...early,
        ids: ['$id'],
        unknown: new Set(later),
        check: checkWith(name, () => new Ajv(options), draft07),
      };
    case 'draft/2019-09':
      return {
        ids: ['$id'],
        unknown: new Set(KEYWORDS_OF_2020),
        besideRef: true,
        anchors: ['$anchor'],
        containsEvaluates: false,
        check: checkWith(name, () => new Ajv2019(options), 'https://json-schema.org/draft/2019-09/schema'),
      };
    case 'draft/2020-12':
      return {
        ids: ['$id'],
        unknown: new Set(['additionalItems', '$recursiveRef', '$recursiveAnchor']),
        besideRef: true,
        anchors: ['$anchor', '$dynamicAnchor'],
        containsEvaluates: true,
        check: checkWith(name, () => new Ajv2020(options), 'https://json-schema.org/draft/2020-12/schema'),
      };
    default:
      return { ...early, ids: ['$id', 'id'], unknown: new Set(later), check: checkWith(name, anyDraft, anyDraftId) };
  }
}

const options = { strict: false, validateFormats: false, logger: false, verbose: true } as const;
const draft07 = 'http://json-schema.org/draft-07/schema#';
const anyDraftId = 'any-draft';

function draft06(): object {
  return createRequire(import.meta.url)('ajv/dist/refs/json-schema-draft-06.json') as object;
}

/** Draft 07, extended by the exclusive limits of draft 04. */
function anyDraft(): Ajv {
  const ajv = new Ajv(options);
  const { properties, ...rest } = ajv.getSchema(draft07)!.schema as { properties: object };
  const limit = { type: ['number', 'boolean'] };
  return ajv.addMetaSchema({
    ...rest,
    $schema: draft07,
    $id: anyDraftId,
    properties: { ...properties, exclusiveMinimum: limit, exclusiveMaximum: limit },
  });
}

/** Compiled metaschemas by draft: each takes tens of milliseconds to compile and never changes. */
const compiled = new Map<string, ValidateFunction>();

function checkWith(name: string, make: () => Core.default, metaschema: string): Draft['check'] {
  return (schema) => {
    let validate = compiled.get(name);
    if (!validate) {
      validate = make().getSchema(metaschema)!;
      compiled.set(name, validate);
    }
    if (validate(schema)) return null;
    return describe(validate.errors![0]!);
  };
}

const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'an object',
  string: 'a text',
};

/** Descriptions of the value that a keyword must have, by the violated rule of the metaschema. */
const RULES: Readonly<Record<string, (limit: unknown) => string>> = {
  type: (limit) =>
    [limit]
      .flat()
      .map((type) => TYPES[String(type)] ?? String(type))
      .join(' or '),
  enum: (limit) => `one of ${(limit as readonly unknown[]).join(', ')}`,
  minimum: (limit) => `${limit} or more`,
  exclusiveMinimum: (limit) => `more than ${limit}`,
  minItems: () => 'a list with at least one entry',
  uniqueItems: () => 'a list without repetitions',
};

/** Describes a violation of a metaschema for the author of the schema. */
function describe({ instancePath: pointer, keyword, schema: limit, data }: ErrorObject): SchemaIssue {
  const name = decodeStep(pointer.slice(pointer.lastIndexOf('/') + 1));
  const rule = RULES[keyword]?.(limit) ?? 'a valid schema';
  const match = typeof data === 'object' && data !== null ? '' : `, found ${JSON.stringify(data)}`;
  const near =
    keyword === 'enum' && typeof data === 'string' ? nearest(data, (limit as string[]).map(String)) : undefined;
  return {
    pointer,
    message: `${name === '' ? 'the schema' : `'${name}'`} must be ${rule}${match}`,
    hint: near && `did you mean "${near}"?`,
  };
}

function decodeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

const withRegExp = (pattern: RegExp) => (text: string) => pattern.test(text);

/** Checks of the values of `format`, by name of the format: each function returns true if a text has the format. Unlisted formats are not checked. */
export const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ...['date', 'time', 'date-time', 'hostname', 'email', 'ipv4', 'ipv6', 'uri', 'uri-reference'].map(published),
  ...['uri-template', 'regex', 'json-pointer', 'relative-json-pointer', 'duration'].map(published),
  ['uuid', withRegExp(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i)],
  // An internationalized value is checked by the ordinary format, after its non-ASCII characters are replaced by ASCII.
  ['idn-email', viaAscii('email', 'a')],
  ['iri', viaAscii('uri', '%AA')],
  ['iri-reference', viaAscii('uri-reference', '%AA')],
]);

function viaAscii(name: string, substitute: string): (text: string) => boolean {
  const [, test] = published(name);
  return (text) => test(text.replace(/[^\0-\x9f]/gu, substitute));
}

function published(name: string): [string, (text: string) => boolean] {
  const format = addFormats.default.get(name as Parameters<typeof addFormats.default.get>[0]);
  if (format instanceof RegExp) return [name, withRegExp(format)];
  if (typeof format === 'function') return [name, format];
  const { validate } = format as { validate: RegExp | ((text: string) => boolean) };
  return [name, validate instanceof RegExp ? withRegExp(validate) : validate];
}
