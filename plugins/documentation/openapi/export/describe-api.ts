import {
  type DataObject,
  type EndpointConfig,
  type EndpointContract,
  joinPointer,
  type ServiceConfig,
  setKey,
} from '#contract';
import { componentOf, demandsOf, has } from '../../lib/components.ts';
import { describedEndpoints, isInternal, plainPath, withVariables } from '../../lib/endpoints.ts';
import type { OpenApiSettings } from '../schema.ts';
import { schemaOf } from '../written-schema.ts';
import { describeRequestBody, describeResponses } from './bodies.ts';
import { describeInfo, describeServers, describeTags } from './info.ts';
import { describeParameters, parameterFaults, sharedParameters } from './parameters.ts';
import { type OpenApiVersion, Schemas } from './schemas.ts';
import { SecuritySchemes } from './security.ts';

const NAMESPACE = 'documentation/openapi';

/** The parts of a configuration that documents describe. */
export type DescribedConfig = Pick<ServiceConfig, 'name' | 'tls' | 'endpoints' | 'extra_config'>;

export interface DescribeOptions {
  /** Audience whose endpoints are described. Default: all endpoints, regardless of audience. */
  readonly audience?: string | undefined;
  /** OpenAPI version. Default: 3.0. */
  readonly version?: OpenApiVersion | undefined;
  /** Whether request bodies are derived from the schemas of `validation/json-schema`. Default: true. */
  readonly fromValidators?: boolean | undefined;
  /** Contracts, whose responses are described unless the configuration describes them. Default: none. */
  readonly contracts?: readonly EndpointContract[] | undefined;
  /** Whether a client is generated: only known responses, and `x-open-query` for arbitrary parameters. Default: false. */
  readonly forClient?: boolean | undefined;
  /** Whether to keep parameters for headers that OpenAPI 3 describes by other means. Default: false. */
  readonly everyHeader?: boolean | undefined;
}

/** A document, and warnings about information that it cannot express. */
export interface Description {
  readonly document: DataObject;
  /** Warnings with a pointer in the configuration; empty if no place applies. */
  readonly warnings: readonly { readonly pointer: string; readonly message: string }[];
}

/** Returns the documentation settings of the API or an endpoint. They have been validated. */
export function settingsOf({ extra_config: components }: { readonly extra_config: Readonly<DataObject> }) {
  return (componentOf(components, NAMESPACE) ?? {}) as OpenApiSettings;
}

/**
 * Describes the endpoints of a configuration as an OpenAPI document. The output is deterministic: paths in the order of
 * the endpoints, keys in a fixed order.
 */
export function describeApi(config: DescribedConfig, options: DescribeOptions = {}): Description {
  const { audience, version = '3.0', fromValidators = true, everyHeader = false, forClient = false } = options;
  const contracts = new Map((options.contracts ?? []).map((each) => [shapeOf(each), each]));
  const settings = settingsOf(config);
  const declared = Object.entries(settings.components_schemas ?? {}).map(([name, schema]) => [name, schemaOf(schema)]);
  const schemas = new Schemas(version, Object.fromEntries(declared));
  const security = new SecuritySchemes(config, settings, version);
  const shared = sharedParameters(settings);
  const warnings: { pointer: string; message: string }[] = [];
  const paths: DataObject = {};
  const spellings = new Map<string, string>();

  const describe = (endpoint: EndpointConfig, path: string, suffix: string): DataObject => {
    const own = settingsOf(endpoint);
    const onlyDefined =
      forClient || (own.disable_default_response_definitions ?? settings.disable_default_response_definitions) === true;
    const { tags, summary, operation_id } = own;
    const id = operation_id === undefined ? `${endpoint.method}${endpoint.endpoint}` : operation_id + suffix;
    const description = [own.description, ...openLists(endpoint), ...demandsOf(endpoint)].filter(Boolean).join('\n\n');
    const name = own.operation_id ?? `${endpoint.method.toLowerCase()}${plainPath(endpoint)}`;
    const parameters = describeParameters(endpoint, own, path, everyHeader, shared);
    const body = describeRequestBody(endpoint, own, schemas, name, fromValidators);
    const required = security.requirementOf(endpoint, own);
    return {
      ...(tags && tags.length > 0 && { tags: [...tags] }),
      ...(summary !== undefined && { summary }),
      ...(description !== '' && { description }),
      operationId: id,
      ...(forClient && endpoint.input_query_strings.includes('*') && { 'x-open-query': true }),
      ...(parameters.length > 0 && { parameters }),
      ...(body && { requestBody: body }),
      responses: describeResponses(endpoint, own, schemas, name, {
        onlyDefined,
        contract: contracts.get(shapeOf(endpoint)),
      }),
      ...(required !== undefined && { security: required }),
    };
  };

  for (const [index, endpoint] of describedEndpoints(config.endpoints)) {
    if (!isDescribed(endpoint, audience) || (forClient && has(endpoint.extra_config, 'websocket'))) continue;
    if (endpoint.method === 'QUERY') {
      const message = 'OpenAPI 3.0 and 3.1 cannot describe the method QUERY: the endpoint is omitted';
      warnings.push({ pointer: joinPointer('/endpoints', index, 'method'), message });
      continue;
    }
    const at = joinPointer('/endpoints', index, 'extra_config', NAMESPACE);
    for (const { pointer, message } of parameterFaults(endpoint, settingsOf(endpoint), shared)) {
      warnings.push({ pointer: at + pointer, message });
    }
    const path = spellOnce(spellings, plainPath(endpoint));
    if (!Object.hasOwn(paths, path)) setKey(paths, path, {});
    const method = has(endpoint.extra_config, 'websocket') ? 'get' : endpoint.method.toLowerCase();
    // The operations of an endpoint for all methods need different names, so the method is appended.
    const suffix = config.endpoints[index] === endpoint ? '' : endpoint.method;
    (paths[path] as DataObject)[method] = describe(endpoint, path, suffix);
  }
  if (audience !== undefined && Object.keys(paths).length === 0) {
    warnings.push({ pointer: '', message: `no endpoint has the audience "${audience}"` });
  }
  const servers = describeServers(settings);
  const tags = describeTags(settings);
  const components = {
    ...(Object.keys(schemas.named).length > 0 && { schemas: { ...schemas.named } }),
    ...(Object.keys(shared).length > 0 && { parameters: { ...shared } }),
    ...(Object.keys(security.named).length > 0 && { securitySchemes: { ...security.named } }),
  };
  return {
    document: {
      openapi: version === '3.0' ? '3.0.3' : '3.1.0',
      info: describeInfo(config, settings, version),
      ...(servers.length > 0 && { servers }),
      ...(tags.length > 0 && { tags }),
      paths,
      ...(Object.keys(components).length > 0 && { components }),
    },
    warnings,
  };
}

/** Method and path without the names of variables, which identify an endpoint. */
function shapeOf({ method, endpoint }: Pick<EndpointContract, 'method' | 'endpoint'>): string {
  return `${method} ${withVariables(endpoint, () => '{}')}`;
}

function isDescribed(endpoint: EndpointConfig, audience: string | undefined): boolean {
  if (isInternal(endpoint)) return false;
  if (audience === undefined) return true;
  const { audience: meant = [] } = settingsOf(endpoint);
  return meant.includes(audience) || meant.includes('*');
}

/** OpenAPI treats paths that differ only in variable names as equal: the first spelling is used for all. */
function spellOnce(spellings: Map<string, string>, path: string): string {
  const shape = path.replace(/\{[^}]*\}/g, '{}');
  const known = spellings.get(shape);
  if (known === undefined) spellings.set(shape, path);
  return known ?? path;
}

/** Describes forwarding lists that parameters cannot express. */
function openLists({ input_headers: headers, input_query_strings: query }: EndpointConfig): string[] {
  return [
    ...(headers.includes('*') ? ['All headers are forwarded.'] : []),
    ...(query.includes('*') ? ['All query parameters are forwarded.'] : []),
  ];
}
