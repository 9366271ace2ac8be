import { type DataObject, isHeaderName, isObject } from '#contract';
import { takesBody } from '../../lib/endpoints.ts';
import type { Schemas } from '../export/schemas.ts';
import { describedBodies, describedResponses } from './described-bodies.ts';
import type { SpecOperation, SpecParameter } from './operations.ts';
import type { TakenPath } from './public-path.ts';
import type { Resolver } from './resolver.ts';
import { standAlone } from './stand-alone.ts';

/** Settings for the created endpoints. */
export interface ImportSettings {
  readonly outputEncoding: string;
  /** Whether request bodies are validated. */
  readonly validate: boolean;
}

/** Context for importing a document. */
export interface ImportContext extends ImportSettings {
  readonly resolver: Resolver;
  readonly schemas: Schemas;
  /** Security schemes by name. */
  readonly schemes: Readonly<Record<string, DataObject>>;
  readonly report: (pointer: string, message: string) => void;
}

/** Methods that endpoints support. */
export const ENDPOINT_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'QUERY',
]);

/** Creates the endpoint of an operation. @param host of its backend; undefined for the service's host. */
export function toEndpoint(
  operation: SpecOperation,
  taken: Extract<TakenPath, { endpoint: string }>,
  target: { readonly host: string | undefined; readonly pattern: string },
  context: ImportContext,
): DataObject {
  const headers = headersOf(operation, context);
  const query = queryOf(operation, context);
  const output = outputOf(operation, context);
  const components = {
    'documentation/openapi': documentation(operation, taken.names, context),
    ...validator(operation, context),
  };
  return {
    endpoint: taken.endpoint,
    method: operation.method,
    ...(output.encoding !== undefined && { output_encoding: output.encoding }),
    ...(headers.length > 0 && { input_headers: headers }),
    ...(query.length > 0 && { input_query_strings: query }),
    backend: [
      {
        url_pattern: target.pattern,
        ...(target.host !== undefined && { host: [target.host] }),
        ...output.backend,
      },
    ],
    extra_config: components,
  };
}

function headersOf(operation: SpecOperation, { schemes, report }: ImportContext): string[] {
  const { parameters, body, method, security, pointer } = operation;
  const named = parameters.filter(({ in: where }) => where === 'header').map(({ name }) => name);
  for (const { in: where, name } of parameters) {
    if (where === 'cookie')
      report(pointer, `the cookie '${name}' is not forwarded: add "Cookie" to input_headers to forward all cookies`);
  }
  const requested = security.flatMap((name) => headerOf(Object.hasOwn(schemes, name) ? schemes[name] : undefined));
  const usual = body.length > 0 || takesBody(method) ? ['Content-Type'] : [];
  const spelled = new Map<string, string>();
  for (const name of [...named, ...requested, ...usual]) {
    if (!isHeaderName(name)) report(pointer, `'${name}' is not a valid header name`);
    else if (!spelled.has(name.toLowerCase())) spelled.set(name.toLowerCase(), name);
  }
  return [...spelled.values()];
}

/** Returns the header with the credentials of a scheme. Undefined schemes are treated as tokens. */
function headerOf(scheme: DataObject | undefined): string[] {
  if (scheme?.['type'] === 'apiKey') {
    return scheme['in'] === 'header' && typeof scheme['name'] === 'string' ? [scheme['name']] : [];
  }
  return scheme?.['type'] === 'mutualTLS' ? [] : ['Authorization'];
}

function queryOf({ parameters, security, pointer }: SpecOperation, { schemes, report }: ImportContext): string[] {
  const names = new Set<string>();
  for (const { in: where, name, style } of parameters) {
    if (where !== 'query') continue;
    if (style === 'deepObject')
      report(pointer, `the members of the query parameter '${name}' must be listed individually`);
    if (name === '' || name === '*') report(pointer, `'${name}' cannot be listed as a query parameter`);
    else names.add(name);
  }
  for (const name of security) {
    const scheme = Object.hasOwn(schemes, name) ? schemes[name] : undefined;
    if (scheme?.['in'] === 'query' && typeof scheme['name'] === 'string') names.add(scheme['name']);
  }
  return [...names];
}

interface Output {
  readonly encoding: string | undefined;
  /** Additional backend settings. */
  readonly backend: DataObject;
}

/** Returns the output settings: responses other than JSON pass undecoded, and arrays stay arrays. */
function outputOf({ responses }: SpecOperation, { outputEncoding, resolver }: ImportContext): Output {
  const good = responses.filter(({ status }) => /^2/.test(status)).flatMap(({ media }) => media);
  if (outputEncoding !== 'json' || good.length === 0) return { encoding: undefined, backend: {} };
  const inJson = good.filter(({ type }) => /[/+]json\b|^\*\/\*/i.test(type));
  if (inJson.length === 0) return { encoding: 'no-op', backend: { encoding: 'no-op' } };
  const isArray = inJson.every(({ schema }) => resolver.object(schema)?.['type'] === 'array');
  return isArray
    ? { encoding: 'json-collection', backend: { is_collection: true } }
    : { encoding: undefined, backend: {} };
}

function validator(operation: SpecOperation, { validate, resolver, report }: ImportContext): DataObject {
  if (!validate || !takesBody(operation.method)) return {};
  const media = operation.body.find(({ type }) => /[/+]json\b/i.test(type));
  if (media?.schema === undefined) return {};
  const schema = standAlone(media.schema, resolver);
  if (!isObject(schema)) {
    report(operation.pointer, 'the request body has no schema to validate against');
    return {};
  }
  return { 'validation/json-schema': schema };
}

function documentation(
  operation: SpecOperation,
  names: ReadonlyMap<string, string>,
  context: ImportContext,
): DataObject {
  const { summary, description, operationId, tags, security } = operation;
  const known = security.filter((name) => Object.hasOwn(context.schemes, name));
  const bodies = describedBodies(operation, context);
  const responses = describedResponses(operation, context);
  return {
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(operationId !== undefined && operationId !== '' && { operation_id: operationId }),
    ...(tags.length > 0 && { tags: [...tags] }),
    ...(known.length > 0 && { custom_security_schemes: Object.fromEntries(known.map((name) => [name, {}])) }),
    ...definitions('param_definition', 'path', operation.parameters, (name) => names.get(name) ?? name),
    ...definitions('query_definition', 'query', operation.parameters),
    ...definitions('header_definition', 'header', operation.parameters),
    ...(bodies.length > 0 && { request_definition: bodies }),
    ...(Object.keys(responses).length > 0 && { response_definition: responses }),
  };
}

const TYPES = new Set(['integer', 'number', 'string', 'boolean', 'object', 'array']);
const FORMATS = new Set(['int32', 'int64', 'float', 'double', 'date', 'date-time', 'byte', 'uuid']);

function definitions(
  field: string,
  where: string,
  parameters: readonly SpecParameter[],
  rename = (name: string) => name,
): DataObject {
  const own = parameters.filter(
    (each) => each.in === where && each.name !== '' && (where !== 'header' || isHeaderName(each.name)),
  );
  const written = own.map(({ name, description, required, schema, example }): DataObject => {
    const type = [schema['type']].flat().find((each) => typeof each === 'string' && TYPES.has(each));
    const { format, enum: values } = schema;
    return {
      name: rename(name),
      ...(description !== undefined && { description }),
      ...(type !== undefined && { type }),
      ...(where !== 'header' && typeof format === 'string' && FORMATS.has(format) && { format }),
      ...(Array.isArray(values) && values.length > 0 && { enum: values }),
      ...(where !== 'path' && required && { required: true }),
      ...(where !== 'header' && example !== undefined && { example }),
    };
  });
  return written.length > 0 ? { [field]: written } : {};
}
