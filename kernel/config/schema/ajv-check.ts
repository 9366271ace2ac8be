import { createRequire } from 'node:module';
import type { Ajv, CodeOptions, FuncKeywordDefinition, ValidateFunction } from 'ajv';
import { type Choose, keywordsOf } from './keywords.ts';
import type { JsonSchema } from './schema.ts';

/** Ajv holds whatever it has compiled. Plugins of files come and go with their schemas, so it is renewed after so many. */
const COMPILED_BY_ONE = 64;

const require = createRequire(import.meta.url);
const current = new WeakMap<Choose, { readonly ajv: Ajv; left: number }>();

/** Has ajv compile a schema, as `toJsonSchema` makes it. */
export function ajvCheck(schema: JsonSchema, choose: Choose): ValidateFunction {
  let compiler = current.get(choose);
  if (!compiler || compiler.left === 0) {
    // Optimizing what it generates takes longer than it saves: a configuration is checked seldom.
    compiler = { ajv: createAjv(keywordsOf(choose), { optimize: false }), left: COMPILED_BY_ONE };
    current.set(choose, compiler);
  }
  compiler.left -= 1;
  return compiler.ajv.compile(schema);
}

/** An ajv as it is for configurations. Its package is loaded when the first is made: most starts need none. */
export function createAjv(keywords: readonly FuncKeywordDefinition[], code: CodeOptions): Ajv {
  const { Ajv } = require('ajv') as typeof import('ajv');
  const ajv = new Ajv({
    strict: true,
    allErrors: true,
    verbose: true,
    useDefaults: true,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    code: { regExp: Object.assign(regExp, { code: 'regExp' }), ...code },
  });
  ajv.addVocabulary(['secret', ...keywords]);
  return ajv;
}

/** Patterns are read as Unicode where they are valid so, else the older, laxer way. */
export function regExp(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return new RegExp(pattern);
  }
}
