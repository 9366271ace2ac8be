import { type Conversion, type Data, type DataObject, isObject, joinPointer } from '#contract';
import { schemaOf } from './written-schema.ts';

const NAMESPACE = 'documentation/openapi';

/**
 * Reports errors that involve more than one place, in a document that may have other errors of any kind.
 * Codes: OPENAPI_OPERATION_ID, OPENAPI_SCHEMA, OPENAPI_REF, OPENAPI_CONTENT_TYPE, OPENAPI_EXAMPLE, OPENAPI_STATUS; a
 * warning OPENAPI_SCHEME.
 */
export function reportErrors(document: DataObject, report: Conversion): void {
  const root = settingsIn(document);
  const at = joinPointer('', 'extra_config', NAMESPACE);
  const { components_schemas: schemas, custom_security_schemes: schemes, components_parameters: parameters } = root;
  if (Array.isArray(parameters)) {
    const message = 'at the service level, components_parameters must be an object with parameters by name';
    report.error('OPENAPI_REF', joinPointer(at, 'components_parameters'), message);
  }
  const named = isObject(schemas) ? schemas : {};
  for (const [name, schema] of Object.entries(named)) {
    reportSchema(schema, joinPointer(at, 'components_schemas', name), report);
  }
  const known = { schemas: named, schemes: isObject(schemes) ? schemes : {} };
  const ids = new Map<string, string>();
  const endpoints = Array.isArray(document['endpoints']) ? document['endpoints'] : [];
  for (const [index, endpoint] of endpoints.entries()) {
    if (!isObject(endpoint)) continue;
    const settings = settingsIn(endpoint);
    const place = joinPointer('/endpoints', index, 'extra_config', NAMESPACE);
    reportId(settings['operation_id'], joinPointer(place, 'operation_id'), ids, report);
    reportBodies(settings, place, known.schemas, report);
    reportSchemes(settings, place, known.schemes, report);
    reportParameters(settings['components_parameters'], place, root['components_parameters'], report);
  }
}

function settingsIn(holder: DataObject): DataObject {
  const { extra_config: components } = holder;
  const settings = isObject(components) && Object.hasOwn(components, NAMESPACE) ? components[NAMESPACE] : undefined;
  return isObject(settings) ? settings : {};
}

function reportId(id: Data | undefined, pointer: string, seen: Map<string, string>, report: Conversion): void {
  if (typeof id !== 'string') return;
  const other = seen.get(id);
  if (other === undefined) {
    seen.set(id, pointer);
    return;
  }
  const message = `the operation_id "${id}" is already used at ${other}`;
  report.error('OPENAPI_OPERATION_ID', pointer, message, { related: [other], hint: 'use a unique name' });
}

function reportBodies(settings: DataObject, place: string, schemas: DataObject, report: Conversion): void {
  const { request_definition: requests, response_definition: responses } = settings;
  reportList(requests, joinPointer(place, 'request_definition'), schemas, report);
  for (const [status, body] of Object.entries(isObject(responses) ? responses : {})) {
    if (/^[@$_#]/.test(status)) continue;
    const at = joinPointer(place, 'response_definition', status);
    if (!/^(?:default|[1-5]\d\d)$/.test(status)) {
      report.error('OPENAPI_STATUS', at, `"${status}" is not a valid status`, { hint: '"200", or "default"' });
    } else if (isObject(body)) reportBody(body, at, schemas, report);
    else if (Array.isArray(body)) reportList(body, at, schemas, report);
    else report.error('OPENAPI_STATUS', at, 'the description of a response must be an object');
  }
}

/** Reports errors in bodies of several media types. */
function reportList(bodies: Data | undefined, place: string, schemas: DataObject, report: Conversion): void {
  const types = new Set<string>();
  for (const [index, body] of (Array.isArray(bodies) ? bodies : []).entries()) {
    if (!isObject(body)) continue;
    const at = joinPointer(place, index);
    const { content_type: type } = body;
    if (typeof type === 'string' && types.has(type)) {
      report.error('OPENAPI_CONTENT_TYPE', joinPointer(at, 'content_type'), `"${type}" is described twice`);
    } else if (typeof type === 'string') types.add(type);
    reportBody(body, at, schemas, report);
  }
}

/** Reports references to parameters that the service does not define, and the form of `components_parameters` that belongs to the other level. */
function reportParameters(names: Data | undefined, place: string, known: Data | undefined, report: Conversion): void {
  const at = joinPointer(place, 'components_parameters');
  if (isObject(names)) {
    report.error('OPENAPI_REF', at, 'at an endpoint, components_parameters must be a list of names', {
      hint: `define the parameters in components_parameters of "${NAMESPACE}" at the root`,
    });
  }
  for (const [index, name] of (Array.isArray(names) ? names : []).entries()) {
    if (typeof name !== 'string' || (isObject(known) && Object.hasOwn(known, name))) continue;
    report.error('OPENAPI_REF', joinPointer(at, index), `components_parameters has no "${name}"`, {
      hint: `use a name from components_parameters of "${NAMESPACE}" at the root`,
    });
  }
}

function reportBody(body: DataObject, at: string, schemas: DataObject, report: Conversion): void {
  const { example_schema: schema, ref, example } = body;
  if (schema !== undefined) reportSchema(schema, joinPointer(at, 'example_schema'), report);
  if (schema !== undefined && example !== undefined) {
    const message = 'example and example_schema cannot be combined';
    report.error('OPENAPI_EXAMPLE', joinPointer(at, 'example'), message, {
      hint: 'move it into the schema, as "examples"',
    });
  }
  if (typeof ref === 'string' && !Object.hasOwn(schemas, ref)) {
    const message = `components_schemas has no "${ref}"`;
    report.error('OPENAPI_REF', joinPointer(at, 'ref'), message, {
      hint: `use a name from components_schemas of "${NAMESPACE}" at the root`,
    });
  }
}

function reportSchema(schema: Data, pointer: string, report: Conversion): void {
  try {
    schemaOf(schema);
  } catch (error) {
    report.error('OPENAPI_SCHEMA', pointer, `the schema ${(error as Error).message}`);
  }
}

function reportSchemes(settings: DataObject, place: string, known: DataObject, report: Conversion): void {
  const { custom_security_schemes: own } = settings;
  for (const [name, scheme] of Object.entries(isObject(own) ? own : {})) {
    const isDefined = isObject(scheme) && Object.keys(scheme).length > 0;
    if (isDefined || Object.hasOwn(known, name)) continue;
    const message = `unknown security scheme "${name}": it is omitted from documents`;
    report.warn('OPENAPI_SCHEME', joinPointer(place, 'custom_security_schemes', name), message, {
      hint: `define the scheme in custom_security_schemes of "${NAMESPACE}" at the root`,
    });
  }
}
