import { ConfigError, type Data, type DataObject, isObject, type Schema } from '#contract';
import { endpointSchema, routerSchema, serviceSchema } from '../../contract/internal.ts';
import { parentPointer, parsePointer, valueAt } from '../../values/pointer.ts';
import { hasField, methodHint, methodsHint, placeOf } from '../compatibility/misplaced.ts';
import { evaluateField, type Kind, kindOf } from '../compatibility/not-supported.ts';
import type { Origin } from '../issues/report.ts';
import { hinted, type Report } from '../issues/report.ts';
import type { KnownPlugins } from '../normalize/known-plugins.ts';
import { cloneData } from '../normalize/plain-data.ts';
import type { Written } from '../rules/rule.ts';
import { unusedOptions } from './unused-options.ts';
import { compileSchema } from './validate.ts';

/** Codes of errors that leave an object with the shape that its rules expect. */
const HARMLESS: ReadonlySet<string> = new Set([
  'SCHEMA_UNKNOWN_KEY',
  'SCHEMA_UNKNOWN_KEYS',
  'SCHEMA_PATTERN',
  'SCHEMA_ENUM',
  'SCHEMA_RANGE',
  'SCHEMA_DUPLICATE',
  'DURATION_INVALID',
  'CONFIG_NOT_SUPPORTED',
]);

/** Result of checking a document against the schemas; pointers use current names. */
export interface Structure {
  /** False if the value, or one in it, does not have the shape that its rules expect. */
  isSound(pointer: string): boolean;
}

interface ObjectSchema {
  readonly properties: { readonly [field: string]: Schema };
}

/**
 * Checks a document of version 3 against the kernel's schemas, fills in defaults and parses durations. Modifies the
 * document: afterwards the root and the router match their types, with defaults in place of invalid values; of the
 * endpoints, only the sound ones do. Yields after every endpoint: the validator copies its previous errors for each one
 * that it adds, so thousands of endpoints in one call would take quadratic time.
 *
 * Codes: those of the validator, CONFIG_NOT_SUPPORTED, ROUTE_NO_BACKEND.
 */
export function* checkStructure(
  document: DataObject,
  origin: Origin,
  known: KnownPlugins,
  report: Report,
  written: Written,
): Generator<undefined, Structure, undefined> {
  const unsound = new Set<string>();
  const check = (schema: Schema, value: unknown, pointer: string) => {
    // Unused options are found before defaults are filled in.
    for (const warning of unusedOptions(schema, value as Data, pointer)) report.warnings.push(moved(warning, origin));
    const { value: checked, errors, lacking } = compileSchema(schema)(value, pointer);
    for (const place of lacking) markUnsound(unsound, place);
    for (const error of errors) {
      if (!HARMLESS.has(error.code)) markUnsound(unsound, error.pointer);
      const restated = restate(error, document, known, written);
      if (restated) report.errors.push(moved(restated, origin));
    }
    return checked;
  };
  const isSound = (pointer: string) => !unsound.has(pointer);
  const { endpoints } = document;
  const isList = Array.isArray(endpoints);
  check(serviceSchema, isList ? Object.assign(document, { endpoints: [] }) : document, '');
  if (isList) {
    document['endpoints'] = endpoints;
    for (const [index, endpoint] of endpoints.entries()) {
      endpoints[index] = check(endpointSchema, endpoint, `/endpoints/${index}`) as Data;
      yield;
    }
  }
  settle(document, serviceSchema, '', isSound);
  const components = document['extra_config'] as DataObject;
  const given = Object.hasOwn(components, 'router') ? components['router'] : {};
  const checked = check(routerSchema, given, '/extra_config/router');
  const router = isObject(checked) ? checked : (compileSchema(routerSchema)({}, '').value as DataObject);
  settle(router, routerSchema, '/extra_config/router', isSound);
  document['router'] = router;
  delete components['router'];
  return { isSound };
}

/** Replaces every invalid field with its default, so that the remaining fields can be checked. */
function settle(
  object: DataObject,
  { properties }: ObjectSchema,
  pointer: string,
  isSound: Structure['isSound'],
): void {
  for (const [field, schema] of Object.entries(properties)) {
    if (field === 'endpoints' ? Array.isArray(object[field]) : isSound(`${pointer}/${field}`)) continue;
    if (schema.default === undefined) delete object[field];
    else object[field] = cloneData(schema.default) as Data;
  }
}

function markUnsound(unsound: Set<string>, pointer: string): void {
  for (let at = pointer; at !== ''; at = parentPointer(at)) unsound.add(at);
}

/** Rewords a schema error for the field. @returns undefined if a rule reports it better, or if it is not an error. */
function restate(
  error: ConfigError,
  document: DataObject,
  known: KnownPlugins,
  written: Written,
): ConfigError | undefined {
  const steps = parsePointer(error.pointer);
  if (error.code === 'SCHEMA_UNKNOWN_KEY') return restateUnknown(error, steps, document, known, written);
  const isEndpointField = steps.length === 3 && steps[0] === 'endpoints';
  if (isEndpointField && steps[2] === 'endpoint' && error.code === 'SCHEMA_PATTERN') return undefined;
  if (isEndpointField && steps[2] === 'backend' && error.code === 'SCHEMA_RANGE') {
    const { method = 'GET', endpoint } = valueAt(document, steps.slice(0, 2)) as DataObject;
    const message = `the endpoint ${method} ${endpoint} cannot be served since it has 0 backends defined`;
    return new ConfigError('ROUTE_NO_BACKEND', error.pointer, message);
  }
  const kind = kindOf(steps.slice(0, -1));
  if (steps.at(-1) === 'method' && (kind === 'endpoint' || kind === 'backend') && error.hint === undefined) {
    return hinted(error, methodHint(kind, valueAt(document, steps)));
  }
  return error;
}

function restateUnknown(
  error: ConfigError,
  steps: readonly string[],
  document: DataObject,
  known: KnownPlugins,
  written: Written,
): ConfigError | undefined {
  const kind = kindOf(steps.slice(0, -1));
  const key = steps.at(-1)!;
  if (!kind) return error;
  const value = valueAt(document, steps);
  const status = evaluateField(kind, key, value);
  if (key === 'methods' && Array.isArray(value)) return hinted(error, methodsHint(value));
  if (status === 'unknown') return misplaced(error, key, kind, known);
  if (status === 'without effect') {
    delete (valueAt(document, steps.slice(0, -1)) as DataObject)[key];
    return undefined;
  }
  if (status === 'not supported') {
    return new ConfigError('CONFIG_NOT_SUPPORTED', error.pointer, `'${key}' is not supported yet`);
  }
  return renamedField(error, key, kind, status.renamed, written);
}

/** Rewords an unknown key that is not a misspelled field of its object: a field of another object, or a component. */
function misplaced(error: ConfigError, key: string, kind: Kind, { compatibility }: KnownPlugins): ConfigError {
  if (error.fix) return error;
  const place = placeOf(key, kind);
  if (place) {
    const message = `'${key}' belongs to ${place.belongs}, not to ${place.not}`;
    return new ConfigError(error.code, error.pointer, message, { hint: `move it to ${place.belongs}` });
  }
  if (!compatibility.namespaces.includes(key)) return error;
  return new ConfigError(error.code, error.pointer, `'${key}' is a component: it belongs in 'extra_config'`, {
    hint: `"extra_config": {"${key}": ...}`,
  });
}

function renamedField(error: ConfigError, key: string, kind: Kind, present: string, written: Written): ConfigError {
  if (hasField(kind, present)) {
    const isThere = written(`${parentPointer(error.pointer)}/${present}`) !== undefined;
    const rest = isThere ? ', which is also set' : ': sluice migrate renames it';
    const message = `'${key}' is an old name of '${present}'${rest}`;
    return new ConfigError(error.code, error.pointer, message, {
      hint: present,
      fix: isThere ? undefined : { key: present },
    });
  }
  const { belongs, not } = placeOf(present, kind)!;
  const message = `'${key}' is an old name of '${present}', which belongs to ${belongs}, not to ${not}`;
  return new ConfigError(error.code, error.pointer, message, { hint: `move it to ${belongs} as '${present}'` });
}

function moved(error: ConfigError, origin: Origin): ConfigError {
  return error.at(origin.pointer(error.pointer), error.related.map(origin.pointer));
}
