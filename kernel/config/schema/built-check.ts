import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';
import { regExp } from './ajv-check.ts';
import { builtChecks } from './built-checks.ts';
import { type Choose, keywordsOf } from './keywords.ts';
import type { JsonSchema } from './schema.ts';

/** What the code of a check makes of the schema it was generated from, and of what it calls. */
export type CheckCode = (
  schema: JsonSchema,
  keyword: (name: string, parentSchema: JsonSchema) => ValidateFunction,
  compilePattern: typeof regExp,
) => ValidateFunction;

const require = createRequire(import.meta.url);

/** The check that ajv generated when the package was built, from this very schema; undefined where there is none. */
export function builtCheck(schema: JsonSchema, choose: Choose): ValidateFunction | undefined {
  if (builtChecks.size === 0) return undefined;
  const digest = digestOf(schema);
  return builtChecks.has(digest) ? runCheckCode(require(`./checks/${digest}.cjs`), schema, choose) : undefined;
}

/** Makes a check of its code, with the schema it was generated from. */
export function runCheckCode(code: CheckCode, schema: JsonSchema, choose: Choose): ValidateFunction {
  const keywords = new Map(keywordsOf(choose).map((definition) => [definition.keyword, definition]));
  const prepare = (name: string, parentSchema: JsonSchema) =>
    keywords.get(name)!.compile!(parentSchema[name], parentSchema as never, undefined as never) as ValidateFunction;
  return code(schema, prepare, regExp);
}

/** Of all that is in a schema but functions, which are only in what the keyword `choice` is given when it runs. */
export function digestOf(schema: JsonSchema): string {
  return createHash('sha1').update(JSON.stringify(schema)).digest('hex').slice(0, 16);
}
