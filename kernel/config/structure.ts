import { ConfigError, type DataObject, routerSchema, type Schema, serviceSchema } from '#contract';
import { judgeField, kindOf } from './not-supported.ts';
import type { Origin } from './origin.ts';
import { parentPointer, parsePointer } from './pointer.ts';
import type { Report } from './report.ts';
import { compileSchema } from './validate.ts';

/** Codes of mistakes after which an object still has the shape its rules expect. */
const HARMLESS: ReadonlySet<string> = new Set([
  'SCHEMA_UNKNOWN_KEY',
  'SCHEMA_PATTERN',
  'SCHEMA_ENUM',
  'SCHEMA_RANGE',
  'SCHEMA_DUPLICATE',
  'DURATION_INVALID',
  'CONFIG_NOT_SUPPORTED',
]);

/** What the schemas say of a document; pointers by its present names. */
export interface Structure {
  /** False when the value there, or one in it, does not have the shape its rules expect. */
  isSound(pointer: string): boolean;
}

/**
 * Checks a document of version 3 against the kernel's schemas, fills in defaults and reads durations. Changes the
 * document.
 *
 * Codes: those of the validator, CONFIG_NOT_SUPPORTED, ROUTE_NO_BACKEND.
 */
export function checkStructure(document: DataObject, origin: Origin, report: Report): Structure {
  const unsound = new Set<string>();
  const check = (schema: Schema, value: unknown, pointer: string) => {
    const { value: checked, errors } = compileSchema(schema)(value, pointer);
    for (const error of errors) {
      if (!HARMLESS.has(error.code)) markUnsound(unsound, error.pointer);
      const restated = restate(error, document);
      if (restated) report.errors.push(moved(restated, origin));
    }
    return checked;
  };
  check(serviceSchema, document, '');
  const components = document['extra_config'] as DataObject;
  const hasRouter = typeof components === 'object' && components !== null && Object.hasOwn(components, 'router');
  document['router'] = check(routerSchema, hasRouter ? components['router'] : {}, '/extra_config/router') as DataObject;
  if (hasRouter) delete components['router'];
  return { isSound: (pointer) => !unsound.has(pointer) };
}

function markUnsound(unsound: Set<string>, pointer: string): void {
  for (let at = pointer; at !== ''; at = parentPointer(at)) unsound.add(at);
}

/** Puts an error of the schema in the words of the field. @returns undefined when a rule says it better, or none is. */
function restate(error: ConfigError, document: DataObject): ConfigError | undefined {
  const steps = parsePointer(error.pointer);
  if (error.code === 'SCHEMA_UNKNOWN_KEY') return restateUnknown(error, steps, document);
  const isEndpointField = steps.length === 3 && steps[0] === 'endpoints';
  if (isEndpointField && steps[2] === 'endpoint' && error.code === 'SCHEMA_PATTERN') return undefined;
  if (isEndpointField && steps[2] === 'backend' && error.code === 'SCHEMA_RANGE') {
    const { method = 'GET', endpoint } = valueAt(document, steps.slice(0, 2)) as DataObject;
    const message = `the endpoint ${method} ${endpoint} cannot be served since it has 0 backends defined`;
    return new ConfigError('ROUTE_NO_BACKEND', error.pointer, message);
  }
  return error;
}

function restateUnknown(error: ConfigError, steps: readonly string[], document: DataObject): ConfigError | undefined {
  const kind = kindOf(steps.slice(0, -1));
  const key = steps.at(-1)!;
  if (!kind) return error;
  const verdict = judgeField(kind, key, valueAt(document, steps));
  if (verdict === 'unknown') return error;
  if (verdict === 'without effect') {
    delete (valueAt(document, steps.slice(0, -1)) as DataObject)[key];
    return undefined;
  }
  if (verdict === 'not supported') {
    return new ConfigError('CONFIG_NOT_SUPPORTED', error.pointer, `'${key}' is not supported yet`);
  }
  return new ConfigError(error.code, error.pointer, error.message, { hint: verdict.renamed });
}

function moved(error: ConfigError, origin: Origin): ConfigError {
  const pointer = origin.pointer(error.pointer);
  if (pointer === error.pointer) return error;
  return new ConfigError(error.code, pointer, error.message, error.hint === undefined ? {} : { hint: error.hint });
}

function valueAt(document: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((value, step) => (value as DataObject | undefined)?.[step], document);
}
