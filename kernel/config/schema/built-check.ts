import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';
import { regExp } from './ajv-check.ts';
import { builtChecks } from './built-checks.ts';
import { type Choose, keywordsOf } from './keywords.ts';
import type { JsonSchema } from './schema.ts';

/** Generated code of a check: creates the check from the schema it was generated from and the functions it calls. */
export type CheckCode = (
  schema: JsonSchema,
  keyword: (name: string, parentSchema: JsonSchema) => ValidateFunction,
  compilePattern: typeof regExp,
) => ValidateFunction;

const require = createRequire(import.meta.url);

/** Check that ajv generated from this exact schema when the package was built; undefined if it does not exist. */
export function builtCheck(schema: JsonSchema, choose: Choose): ValidateFunction | undefined {
  if (builtChecks.size === 0) return undefined;
  const digest = digestOf(schema);
  return builtChecks.has(digest) ? runCheckCode(require(`./checks/${digest}.cjs`), schema, choose) : undefined;
}

/** Creates a check from its code and the schema it was generated from. */
export function runCheckCode(code: CheckCode, schema: JsonSchema, choose: Choose): ValidateFunction {
  const keywords = new Map(keywordsOf(choose).map((definition) => [definition.keyword, definition]));
  const prepare = (name: string, parentSchema: JsonSchema) =>
    keywords.get(name)!.compile!(parentSchema[name], parentSchema as never, undefined as never) as ValidateFunction;
  return code(schema, prepare, regExp);
}

/** Digest of a schema without its functions, which are only passed to the keyword `choice` at run time. */
export function digestOf(schema: JsonSchema): string {
  return createHash('sha1').update(JSON.stringify(schema)).digest('hex').slice(0, 16);
}
