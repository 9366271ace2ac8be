import { ConfigError, type DataObject, parseExact } from '#contract';
import { createPatterns } from '../../../kernel/patterns/patterns.ts';
import type { SchemaSite } from '../../../plugins/validation/json-schema/read.ts';
import { compileValidator } from '../../../plugins/validation/json-schema/validator.ts';

/** Error lines of a JSON text for a schema; empty if it is valid. Errors in the schema throw `CODE pointer message`. */
export function check(schema: object, text: string): string {
  const exact = parseExact(JSON.stringify(schema)) as DataObject;
  return compileValidator(exact, site).validateText(text) ?? '';
}

const patterns = createPatterns();

/** The context of a schema without a surrounding component. */
export const site: SchemaSite = {
  fault: (code, pointer, message) => new ConfigError(code, pointer, `${code} ${pointer} ${message}`),
  warn() {},
  pattern: patterns.compile,
};
