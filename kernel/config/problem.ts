import { fieldName } from './pointer.ts';

/** A mistake found by a keyword, before it becomes a `ConfigError`. `pointer` is relative to the validated value. */
export interface Problem {
  readonly code: string;
  readonly pointer: string;
  readonly message: string;
  readonly hint?: string;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  duration: 'a duration such as "1500ms" or "2s"',
  any: 'any value',
};

/** The type of a schema in an operator's words, with its article. */
export function typeName(type: string): string {
  return TYPE_NAMES[type] ?? type;
}

/** A value as it can stand in a message: short, and only its kind when it is a secret. */
export function showValue(value: unknown, isSecret = false): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (JSON.isRawJSON(value)) return isSecret ? 'a number' : value.rawJSON;
  if (typeof value === 'object') return 'an object';
  if (isSecret) return TYPE_NAMES[typeof value] ?? typeof value;
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

const MAX_SHOWN = 80;

/** A value of the wrong type. */
export function wrongType(pointer: string, type: string, value: unknown, isSecret = false): Problem {
  const code = type === 'duration' ? 'DURATION_INVALID' : 'SCHEMA_TYPE';
  const message = `'${fieldName(pointer)}' must be ${typeName(type)}, found ${showValue(value, isSecret)}`;
  return { code, pointer, message };
}
