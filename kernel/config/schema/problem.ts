import { type ConfigErrorOptions, isObject } from '#contract';
import { fieldName } from '../../values/pointer.ts';
import { includeHint } from '../syntax/template.ts';
import { isTooLong, LONGEST_DURATION } from './duration.ts';
import { durationSlip, equivalent } from './equivalent.ts';

/** An error found by a keyword, before it becomes a `ConfigError`. Pointers are relative to the validated value. */
export interface Problem extends Omit<ConfigErrorOptions, 'cause'> {
  readonly code: string;
  readonly pointer: string;
  readonly message: string;
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

/** User-facing name of a schema type, with its article. */
export function typeName(type: string): string {
  return TYPE_NAMES[type] ?? type;
}

/** Short form of a value for messages; only its type if it is a secret. */
export function showValue(value: unknown, isSecret = false): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (JSON.isRawJSON(value)) return isSecret ? 'a number' : value.rawJSON;
  if (typeof value === 'object') return 'an object';
  if (isSecret && value === '') return 'an empty string';
  if (isSecret) return TYPE_NAMES[typeof value] ?? typeof value;
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

const MAX_SHOWN = 80;

/**
 * Problem for a value of the wrong type.
 * @param items type of the entries if a list is expected.
 */
export function wrongType(pointer: string, type: string, value: unknown, isSecret = false, items?: string): Problem {
  const isDuration = type === 'duration';
  if (isDuration && typeof value === 'string' && isTooLong(value)) {
    const message = `'${fieldName(pointer)}' must be at most ${LONGEST_DURATION}, found ${showValue(value, isSecret)}`;
    return { code: 'DURATION_INVALID', pointer, message };
  }
  return {
    code: isDuration ? 'DURATION_INVALID' : 'SCHEMA_TYPE',
    pointer,
    message: `'${fieldName(pointer)}' must be ${typeName(type)}, found ${showValue(value, isSecret)}`,
    ...(!isSecret && betterValue(type, value, items)),
    ...(isDuration && typeof value === 'string' && { within: durationSlip(value) }),
  };
}

function betterValue(type: string, value: unknown, items: string | undefined): Pick<Problem, 'hint' | 'fix'> {
  const better = equivalent(type, value, items);
  if (better !== undefined) return { hint: JSON.stringify(better), fix: { value: better } };
  const hint = hints[type]?.(value, items);
  return hint === undefined ? {} : { hint };
}

/** Hints for values that the author must correct by a choice, so that no fix is offered. */
const hints: Readonly<Record<string, (value: unknown, items: string | undefined) => string | undefined>> = {
  duration: (value) =>
    /^(?:string|number)$/.test(typeof value) && /^\d{1,9}$/.test(`${value}`)
      ? `with its unit: "${value}ms" or "${value}s"`
      : undefined,
  integer: (value) =>
    typeof value === 'string' && /^\d[\d.,]*\s*[a-z]+$/i.test(value) ? 'a number without a unit' : undefined,
  boolean: (value) => {
    if (value === 1 || (typeof value === 'string' && /^(?:yes|on|true)$/i.test(value))) return 'true';
    return value === 0 || (typeof value === 'string' && /^(?:no|off|false)$/i.test(value)) ? 'false' : undefined;
  },
  array: (value, items) => {
    if (items === 'string' && typeof value === 'string') return 'a list with one entry for each value';
    if (isObject(value) && Object.hasOwn(value, '$ref')) return includeHint('$ref', value['$ref']);
    // Keys that look like paths suggest that a list of another notation was intended, not that a bracket is missing.
    const [first] = isObject(value) ? Object.keys(value) : [];
    return items === 'object' && first !== undefined && !first.startsWith('/') ? 'wrap it in [ ]' : undefined;
  },
};

/** Formats a count, as in `1 entry`. */
export function entryCount(entries: number): string {
  return entries === 1 ? '1 entry' : `${entries} entries`;
}
