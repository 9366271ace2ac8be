import { type DataObject, isObject, type Schema } from '#contract';
import { serviceSchema } from '../../contract/internal.ts';
import { createReport, type Report } from '../issues/report.ts';
import { isTooLong, LONGEST_DURATION, readDuration } from '../schema/duration.ts';
import { showValue } from '../schema/problem.ts';
import { compileSchema } from '../schema/validate.ts';

/** Prefixes of the environment variables, in order of precedence. */
const PREFIXES = ['GATEWAY_', 'KRAKEND_'] as const;

const NOT_OVERRIDDEN: ReadonlySet<string> = new Set(['$schema']);
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/**
 * Overrides strings, integers, booleans and durations at the root with environment variables named after the field, as
 * in `GATEWAY_PORT`. Fields that the file does not set stay absent; empty variables count as unset. Modifies the
 * document.
 *
 * Code: CONFIG_ENVIRONMENT, naming the variable; a warning for a variable that is ignored.
 */
export function applyEnvironment(
  document: DataObject,
  environment: Readonly<Record<string, string | undefined>>,
  report: Report,
): void {
  for (const [field, schema] of Object.entries<Schema>(serviceSchema.properties)) {
    if (NOT_OVERRIDDEN.has(field)) continue;
    const variable = PREFIXES.map((prefix) => prefix + field.toUpperCase()).find((name) => environment[name]);
    if (variable === undefined) continue;
    const text = environment[variable]!;
    const value = 'type' in schema ? convert(schema.type, text) : null;
    const isThere = Object.hasOwn(document, field);
    const pointer = isThere ? `/${field}` : '';
    if (!('type' in schema) || value === null || !isThere) {
      const why = value === null ? `"${field}" is not a plain value` : `the file has no "${field}" to replace`;
      const hint = value === null ? `Set "${field}" in the file` : `Add "${field}" to the file, with any value`;
      if (!ofKubernetes(text)) {
        report.warn('CONFIG_ENVIRONMENT', pointer, `environment variable ${variable} is ignored: ${why}`, { hint });
      }
      continue;
    }
    if (value === undefined) {
      const isOver = schema.type === 'duration' && isTooLong(text);
      const kind = isOver ? `a duration of at most ${LONGEST_DURATION}` : KIND[schema.type];
      const message = `environment variable ${variable} cannot be read as ${kind}: ${showValue(text)}`;
      report.error('CONFIG_ENVIRONMENT', pointer, message, { hint: hintFor(variable, text) });
      continue;
    }
    const errors = field === 'version' ? [] : compileSchema(schema)(value, pointer).errors;
    for (const { message } of errors) {
      report.error('CONFIG_ENVIRONMENT', pointer, `environment variable ${variable}: ${message}`);
    }
    if (errors.length === 0) document[field] = value;
  }
}

/** Root of a document with environment overrides applied. Unreadable values are not reported. */
export function underEnvironment(data: unknown, environment: Readonly<Record<string, string | undefined>>): unknown {
  if (!isObject(data)) return data;
  const document: DataObject = { ...data };
  applyEnvironment(document, environment, createReport());
  return document;
}

/** True for variables that Kubernetes sets for every Service of a namespace, named after it. */
function ofKubernetes(text: string): boolean {
  return /^(?:tcp|udp|sctp):\/\//.test(text);
}

function hintFor(variable: string, text: string): string | undefined {
  return ofKubernetes(text) && variable.endsWith('_PORT')
    ? 'Kubernetes sets this variable for a Service of that name; set "enableServiceLinks": false in the pod'
    : undefined;
}

/** Name of the variable that overrides the value at a pointer; undefined without one. */
export function variableFor(pointer: string): string | undefined {
  const field = pointer.slice(1);
  const fields: Readonly<Record<string, Schema>> = serviceSchema.properties;
  const schema = Object.hasOwn(fields, field) ? fields[field] : undefined;
  const isReplaced = schema && 'type' in schema && !NOT_OVERRIDDEN.has(field) && convert(schema.type, '') !== null;
  return isReplaced ? PREFIXES[0] + field.toUpperCase() : undefined;
}

const KIND: Readonly<Record<string, string>> = {
  integer: 'an integer',
  boolean: 'true or false',
  duration: 'a duration',
};

/**
 * Converts the text of a variable to the type of its field. @returns null for a type that variables cannot override,
 * undefined for a text that does not fit the type.
 */
function convert(type: string, text: string): string | number | boolean | null | undefined {
  switch (type) {
    case 'string':
      return text;
    case 'duration':
      return readDuration(text) === undefined ? undefined : text;
    case 'integer': {
      const number = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
      return Number.isSafeInteger(number) ? number : undefined;
    }
    case 'boolean':
      return TRUE.has(text) ? true : FALSE.has(text) ? false : undefined;
    default:
      return null;
  }
}
