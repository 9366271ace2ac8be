import { type Data, type DataObject, isObject } from '#contract';
import { Schemas } from '../export/schemas.ts';
import { operationsOf, type SpecOperation } from './operations.ts';
import { PublicPaths } from './public-path.ts';
import { Resolver } from './resolver.ts';
import { describeService, schemesOf } from './service-settings.ts';
import { ENDPOINT_METHODS, type ImportContext, toEndpoint } from './to-endpoint.ts';
import { readUpstream } from './upstream.ts';

export interface ImportOptions {
  /** Address of the backends. Default: the first server of each document. */
  readonly baseHost: string | undefined;
  /** Prefix of every endpoint's path. */
  readonly prefix: string;
  readonly outputEncoding: string;
  readonly timeout: string | undefined;
  readonly validate: boolean;
  /** Existing configuration that the endpoints are added to. */
  readonly existing: DataObject | undefined;
}

/** The resulting configuration, notes on lost information, and errors. */
export interface Imported {
  readonly configuration: DataObject;
  readonly notes: readonly string[];
  readonly errors: readonly string[];
}

/** Creates a configuration that serves the operations of documents. @param specs documents with their names in messages. */
export function toConfiguration(
  specs: readonly (readonly [name: string, document: DataObject])[],
  options: ImportOptions,
): Imported {
  const notes: string[] = [];
  const errors: string[] = [];
  const { existing = {}, prefix, outputEncoding, validate } = options;
  const kept = Array.isArray(existing['endpoints']) ? existing['endpoints'].filter(isObject) : [];
  const taken = new Set(kept.map(({ method = 'GET', endpoint }) => `${method} ${endpoint}`));
  const paths = new PublicPaths(prefix);
  for (const { method = 'GET', endpoint } of kept) paths.keep(String(method), String(endpoint));
  const settings = documentationIn(existing);
  const declared = isObject(settings['components_schemas'] ?? null)
    ? (settings['components_schemas'] as DataObject)
    : {};
  const schemas = new Schemas('as written', declared);
  const ids = new Set(kept.map((endpoint) => documentationIn(endpoint)['operation_id']));
  const endpoints: DataObject[] = [];
  let service: DataObject = settings;
  let host: string | undefined;

  for (const [name, document] of specs) {
    const resolver = new Resolver(document);
    const report = (pointer: string, message: string) => notes.push(`${name}#${pointer}: ${message}`);
    const schemes = schemesOf(resolver);
    const context: ImportContext = { outputEncoding, validate, resolver, schemas, schemes, report };
    service = describeService(service, resolver, schemes);
    const upstreams = new Map<string, string>();
    for (const operation of operationsOf(resolver)) {
      const endpoint = importOperation(operation, context);
      if (endpoint) endpoints.push(endpoint);
    }

    function importOperation(operation: SpecOperation, around: ImportContext): DataObject | undefined {
      const { method, path, pointer } = operation;
      if (!ENDPOINT_METHODS.has(method)) return skip(pointer, `endpoints have no ${method}`);
      const wildcard = operation.parameters.find(({ isWildcard }) => isWildcard)?.name;
      if (taken.has(`${method} ${prefix}${path}`))
        return skip(pointer, 'the configuration already contains this endpoint');
      const public_ = paths.take(method, path, wildcard);
      if ('refusal' in public_) return skip(pointer, public_.refusal);
      for (const [old, now] of public_.names) {
        if (old !== now) report(pointer, `the placeholder {${old}} is renamed to {${now}}`);
      }
      const upstream = readUpstream(operation, document, options.baseHost);
      if ('error' in upstream) {
        if (!upstreams.has(upstream.error)) errors.push(`${name}: ${upstream.error}`);
        upstreams.set(upstream.error, '');
        return undefined;
      }
      host ??= upstream.host;
      const isUsual = upstream.host === host && options.existing === undefined;
      const spelled = public_.endpoint.slice(prefix.length);
      const target = { host: isUsual ? undefined : upstream.host, pattern: upstream.path + spelled };
      return toEndpoint(withOwnId(operation, ids, report), public_, target, around);
    }

    function skip(pointer: string, message: string): undefined {
      report(pointer, `skipped: ${message}`);
    }
  }
  const named = schemas.named;
  const documentation = { ...service, ...(Object.keys(named).length > 0 && { components_schemas: { ...named } }) };
  const { info } = isObject(specs[0]?.[1] ?? null) ? specs[0]![1] : { info: null };
  const title = isObject(info ?? null) ? (info as DataObject)['title'] : undefined;
  const usual: DataObject = options.existing === undefined && host !== undefined ? { host: [host] } : {};
  if (paths.hasGluedVariables && existing['disable_rest'] !== true)
    notes.push('placeholders are used inside path segments: disable_rest is set');
  const configuration: DataObject = {
    version: 3,
    ...(typeof title === 'string' && title !== '' && { name: title }),
    ...usual,
    ...(outputEncoding !== 'json' && { output_encoding: outputEncoding }),
    ...existing,
    ...(options.timeout !== undefined && { timeout: options.timeout }),
    ...(paths.hasGluedVariables && { disable_rest: true }),
    endpoints: [...((existing['endpoints'] as Data[] | undefined) ?? []), ...endpoints],
    extra_config: { ...componentsIn(existing), 'documentation/openapi': documentation },
  };
  return { configuration, notes, errors };
}

function componentsIn(holder: DataObject): DataObject {
  const { extra_config: components } = holder;
  return isObject(components ?? null) ? (components as DataObject) : {};
}

function documentationIn(holder: DataObject): DataObject {
  const settings = componentsIn(holder)['documentation/openapi'];
  return isObject(settings ?? null) ? (settings as DataObject) : {};
}

/** Ensures that an operation's name is unique. */
function withOwnId(operation: SpecOperation, ids: Set<unknown>, report: ImportContext['report']): SpecOperation {
  const { operationId: id, pointer } = operation;
  if (id === undefined || id === '') return operation;
  if (!ids.has(id)) {
    ids.add(id);
    return operation;
  }
  report(pointer, `the operationId "${id}" is omitted, because another operation has it`);
  return { ...operation, operationId: undefined };
}
