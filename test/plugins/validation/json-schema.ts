import { type DataObject, parseExact } from '#contract';
import { compileValidator } from '../../../plugins/validation/json-schema/validator.ts';

/** Lines of a JSON text against a schema; empty for a valid one. Mistakes in the schema throw `CODE pointer message`. */
export function check(schema: object, text: string): string {
  const exact = parseExact(JSON.stringify(schema)) as DataObject;
  return compileValidator(exact, fault).validateText(text) ?? '';
}

export function fault(code: string, pointer: string, message: string): Error {
  return new Error(`${code} ${pointer} ${message}`);
}
