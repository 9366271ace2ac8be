import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';
import type { JsonSchema } from 'json-schema-faker';
import { copyData, type Data, type DataObject } from '#contract';

const require = createRequire(import.meta.url);

/** Number of attempts to generate a valid value. */
const MAX_ATTEMPTS = 20;

/** Largest minimum of a schema for which values are generated, and longest pattern. */
const MAX_MINIMUM = 1000;

/**
 * Generates a value that is valid for a JSON Schema. The same schema and seed generate the same value.
 * @returns undefined if no attempt is valid, for example because the schema refers to another document or is too large.
 */
export async function sampleData(schema: DataObject, seed: number): Promise<Data | undefined> {
  if (isTooLarge(schema)) return undefined;
  const { generateSync } = await import('json-schema-faker');
  try {
    const validate = compile(schema);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const options = { seed: seed + attempt, optionalsProbability: 1, maxDepth: 8, refDepthMax: 3 };
      const value = JSON.parse(JSON.stringify(generateSync(copyData(schema) as JsonSchema, options) ?? null)) as Data;
      if (validate(value)) return value;
    }
  } catch {
    // An invalid schema is reported by the component that uses it.
  }
  return undefined;
}

function compile(schema: DataObject): ValidateFunction {
  const { default: addFormats } = require('ajv-formats') as typeof import('ajv-formats');
  const { Ajv } = require('ajv') as typeof import('ajv');
  const { $schema: _, ...rest } = schema;
  const ajv = new Ajv({ strict: false, logger: false });
  addFormats.default(ajv);
  return ajv.compile(rest);
}

const minimums: ReadonlySet<string> = new Set(['minLength', 'minItems', 'minProperties', 'minContains']);

/** Whether values of a schema can be so large that generating them takes long. */
function isTooLarge(schema: Data): boolean {
  let isLarge = false;
  JSON.stringify(schema, (key, value: unknown) => {
    if (minimums.has(key) && Number(value) > MAX_MINIMUM) isLarge = true;
    if (key === 'pattern' && typeof value === 'string' && (value.length > MAX_MINIMUM || /\{\d{4}/.test(value))) {
      isLarge = true;
    }
    return value;
  });
  return isLarge;
}
