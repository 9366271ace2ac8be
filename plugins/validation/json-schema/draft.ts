import { createRequire } from 'node:module';
import { Ajv, type ValidateFunction } from 'ajv';
import type Core from 'ajv/dist/core.js';
import Ajv04 from 'ajv-draft-04';
import type { DataObject } from '#contract';

/** A version of JSON Schema: which keywords mean something and what a schema must look like. */
export interface Draft {
  /** Keywords under which a schema names itself. */
  readonly ids: readonly string[];
  /** Keywords that this version does not know; they are ignored. */
  readonly unknown: ReadonlySet<string>;
  /** The first mistake in a schema; null for none. */
  check(schema: DataObject): SchemaMistake | null;
}

export interface SchemaMistake {
  readonly pointer: string;
  readonly message: string;
}

const conditionals = ['if', 'then', 'else'];

/**
 * The draft a schema names in `$schema`; without it all keywords of the three count.
 * @returns undefined for a draft that is not supported.
 */
export function findDraft(uri: string | undefined): Draft | undefined {
  if (uri === undefined) return makeDraft('any');
  const [, name] = /^https?:\/\/json-schema\.org\/(?:(draft-0[467])\/)?schema#?$/.exec(uri) ?? [null, null];
  return name === null ? undefined : makeDraft(name ?? 'any');
}

function makeDraft(name: string): Draft {
  switch (name) {
    case 'draft-04':
      return {
        ids: ['id'],
        unknown: new Set(['const', 'contains', 'propertyNames', ...conditionals]),
        check: checkWith(name, () => new Ajv04.default(options), 'http://json-schema.org/draft-04/schema#'),
      };
    case 'draft-06':
      return {
        ids: ['$id'],
        unknown: new Set(conditionals),
        check: checkWith(
          name,
          () => new Ajv(options).addMetaSchema(draft06()),
          'http://json-schema.org/draft-06/schema#',
        ),
      };
    case 'draft-07':
      return { ids: ['$id'], unknown: new Set(), check: checkWith(name, () => new Ajv(options), draft07) };
    default:
      return { ids: ['$id', 'id'], unknown: new Set(), check: checkWith(name, anyDraft, anyDraftId) };
  }
}

const options = { strict: false, validateFormats: false, logger: false } as const;
const draft07 = 'http://json-schema.org/draft-07/schema#';
const anyDraftId = 'any-draft';

function draft06(): object {
  return createRequire(import.meta.url)('ajv/dist/refs/json-schema-draft-06.json') as object;
}

/** Draft 07, with the words of draft 04 for exclusive limits. */
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

/** Compiled metaschemas by draft: they cost tens of milliseconds each and never change. */
const compiled = new Map<string, ValidateFunction>();

function checkWith(name: string, make: () => Core.default, metaschema: string): Draft['check'] {
  return (schema) => {
    let validate = compiled.get(name);
    if (!validate) {
      validate = make().getSchema(metaschema)!;
      compiled.set(name, validate);
    }
    if (validate(schema)) return null;
    const { instancePath, message = 'is not a valid schema', params } = validate.errors![0]!;
    const { allowedValues } = params as { allowedValues?: readonly unknown[] };
    return { pointer: instancePath, message: allowedValues ? `${message}: ${allowedValues.join(', ')}` : message };
  };
}
