import { createRequire } from 'node:module';
import type { Ajv, CodeOptions, FuncKeywordDefinition, ValidateFunction } from 'ajv';
import { type Choose, keywordsOf } from './keywords.ts';
import type { JsonSchema } from './schema.ts';

/** Number of schemas compiled before ajv is replaced. It retains everything it has compiled, and schemas come and go with file plugins. */
const COMPILED_BY_ONE = 64;

const require = createRequire(import.meta.url);
const current = new WeakMap<Choose, { readonly ajv: Ajv; left: number }>();

/** Compiles a schema made by `toJsonSchema` with ajv. */
export function ajvCheck(schema: JsonSchema, choose: Choose): ValidateFunction {
  let compiler = current.get(choose);
  if (!compiler || compiler.left === 0) {
    // Optimizing the generated code would take longer than it saves, because configurations are checked rarely.
    compiler = { ajv: createAjv(keywordsOf(choose), { optimize: false }), left: COMPILED_BY_ONE };
    current.set(choose, compiler);
  }
  compiler.left -= 1;
  return compiler.ajv.compile(schema);
}

/** Creates an ajv instance with the options for configurations. The package is loaded on first use: most starts do not need it. */
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

/** Compiles a pattern in Unicode mode if it is valid there, otherwise in the older, more lenient mode. */
export function regExp(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return new RegExp(pattern);
  }
}
