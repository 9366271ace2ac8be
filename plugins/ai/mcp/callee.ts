import {
  type Call,
  type ClientRequest,
  type DataObject,
  type Encoding,
  type EndpointConfig,
  findNear,
  isObject,
  productNames,
  type Reply,
  type Site,
} from '#contract';
import { compileEndpointRequest, placesOf, type Requested } from './endpoint-request.ts';
import type { McpConfig, ToolConfig } from './schema.ts';
import { type CheckedSchema, checkedSchema, inheritedSchema } from './tool-schema.ts';
import { compileRequest } from './workflow-request.ts';

/** Context in which a tool is compiled. */
export interface Place {
  readonly site: Site<McpConfig>;
  /** JSON pointer of the tool, relative to the component's configuration. */
  readonly pointer: string;
}

/** Target of a tool call: a workflow or an endpoint. */
export interface Callee {
  /** @throws ArgumentError. */
  call(args: DataObject, client: ClientRequest, call: Call): Reply | Promise<Reply>;
  /** Encoding of the reply data. */
  readonly encoding: Encoding;
  /** Schema of the arguments; null if any are accepted. */
  readonly input: CheckedSchema | null;
  /** Schema of the results; null if none applies. */
  readonly output: CheckedSchema | null;
}

/** @throws ConfigError MCP_SCHEMA, MCP_WORKFLOW or MCP_ENDPOINT. */
export function calleeOf(config: ToolConfig, place: Place): Callee {
  const { site, pointer } = place;
  const { endpoint, workflow, input_schema: input, output_schema: output } = config;
  const written = {
    input: input ? checkedSchema(site, input, `${pointer}/input_schema`) : null,
    output: output ? checkedSchema(site, output, `${pointer}/output_schema`) : null,
  };
  return endpoint === undefined
    ? ofWorkflow(config, workflow!, place, written)
    : ofEndpoint(config, endpointOf(config, endpoint, place), place, written);
}

type Schemas = Pick<Callee, 'input' | 'output'>;

function ofWorkflow(
  config: ToolConfig,
  workflow: NonNullable<ToolConfig['workflow']>,
  { site, pointer }: Place,
  schemas: Schemas,
): Callee {
  const encoding = site.encoding(workflow.output_encoding)!;
  checkBytes(config, encoding, site, pointer, `${pointer}/workflow/output_encoding`);
  const step = site.pipe(`${pointer}/workflow`);
  const { agent } = productNames(site.setting('router'), site.use('version'));
  const toWorkflow = compileRequest(config.input_headers, workflow.backend, agent);
  return { ...schemas, encoding, call: (args, client, call) => step(toWorkflow(args, client), call) };
}

function ofEndpoint(config: ToolConfig, requested: Requested, { site, pointer }: Place, written: Schemas): Callee {
  const { endpoint } = requested;
  const at = `${pointer}/endpoint`;
  // Unknown encodings are already reported at the endpoint.
  const encoding = site.encoding(endpoint.output_encoding) ?? site.encoding('json')!;
  if (encoding.streams || encoding.messages || Object.hasOwn(endpoint.extra_config, 'websocket')) {
    throw site.fault('MCP_ENDPOINT', at, `${nameOf(endpoint)} returns a stream, which tools do not support`);
  }
  checkBytes(config, encoding, site, pointer, at);
  const body = bodySchema(requested);
  const { path, query } = placesOf(requested);
  const input = written.input ?? inheritedInput(requested, body, { site, pointer: at });
  for (const name of path) {
    const { properties } = input.schema;
    if (isObject(properties) && Object.hasOwn(properties, name)) continue;
    site.warn('MCP_ARGUMENT', `${pointer}/input_schema`, `the path of the endpoint requires the argument ${name}`, {
      hint: `Add "${name}" to "properties" and "required".`,
    });
  }
  const declared = isObject(body?.['properties']) ? Object.keys(body['properties']) : [];
  const ofBody = new Set(declared.filter((name) => path.has(name) || query.has(name)));
  const toEndpoint = compileEndpointRequest(requested, config.input_headers, ofBody);
  const { dispatch } = site;
  return {
    encoding,
    input,
    output: written.output ?? inheritedOutput(endpoint, encoding, { site, pointer: at }),
    call: (args, client, call) => dispatch(toEndpoint(args, client), call),
  };
}

/** Finds the named endpoint. For an endpoint that serves every method, the tool's method is used. */
function endpointOf({ method }: ToolConfig, path: string, { site, pointer }: Place): Requested {
  const endpoints = site.setting('endpoints');
  const at = `${pointer}/endpoint`;
  const sameWay = endpoints.filter((each) => each.endpoint === path);
  const endpoint =
    method === undefined && sameWay.length === 1
      ? sameWay[0]
      : (sameWay.find((each) => each.method === (method ?? 'GET')) ??
        (method && sameWay.find((each) => each.method === 'ANY')));
  if (!endpoint) {
    if (sameWay.length > 0) {
      const methods = sameWay.map((each) => each.method).join(', ');
      const message =
        method === undefined
          ? `"method" is required: ${path} is served with ${methods}`
          : `the endpoint ${path} does not serve ${method}`;
      throw site.fault('MCP_ENDPOINT', method === undefined ? at : `${pointer}/method`, message, {
        hint: `Set "method" to one of ${methods}.`,
      });
    }
    const near = findNear(path, [...new Set(endpoints.map((each) => each.endpoint))]);
    throw site.fault('MCP_ENDPOINT', at, `unknown endpoint "${path}"`, {
      hint: near ? `Did you mean "${near.name}"?` : 'Write the path as under "endpoints".',
      fix: near?.isSure ? { value: near.name } : undefined,
    });
  }
  if (Object.hasOwn(endpoint.extra_config, 'ai/mcp')) {
    throw site.fault('MCP_ENDPOINT', at, `${nameOf(endpoint)} is the endpoint of an MCP server and cannot be a tool`);
  }
  if (path.endsWith('/*')) {
    throw site.fault('MCP_ENDPOINT', at, `${nameOf(endpoint)} ends in /*, which cannot be filled from arguments`);
  }
  if (endpoint.method !== 'ANY') return { endpoint, method: endpoint.method };
  if (method !== undefined) return { endpoint, method };
  throw site.fault('MCP_ENDPOINT', at, `"method" is required: ${path} serves every method`, {
    hint: 'Set "method", for example to "GET".',
  });
}

function nameOf({ method, endpoint }: EndpointConfig): string {
  return `${method} ${endpoint}`;
}

/** Returns the endpoint's schema of request bodies; undefined if it has none. */
function bodySchema({ endpoint, method }: Requested): DataObject | undefined {
  const schema = endpoint.extra_config['validation/json-schema'];
  return method !== 'GET' && method !== 'DELETE' && isObject(schema) ? schema : undefined;
}

/** Derives the input schema from the path variables, the allowed query parameters and the body schema. */
function inheritedInput(requested: Requested, body: DataObject | undefined, place: Place): CheckedSchema {
  const { path, query } = placesOf(requested);
  const texts = Object.fromEntries([...path, ...query].map((name) => [name, { type: 'string' }]));
  const around = { type: 'object', properties: texts, ...(path.size > 0 && { required: [...path] }) };
  const own = body && inheritedSchema(joined(around, body), 'validation/json-schema', 'input_schema', place);
  return own ?? checkedSchema(place.site, around, place.pointer);
}

function joined(around: DataObject & { properties: DataObject; required?: string[] }, body: DataObject): DataObject {
  const { properties, required = [] } = around;
  const demanded = Array.isArray(body['required']) ? body['required'] : [];
  const all = [...new Set([...required, ...demanded])];
  return {
    ...body,
    properties: isObject(body['properties']) ? { ...properties, ...body['properties'] } : properties,
    ...(all.length > 0 && { required: all }),
  };
}

function inheritedOutput(endpoint: EndpointConfig, encoding: Encoding, place: Place): CheckedSchema | null {
  const config = endpoint.extra_config['validation/response-json-schema'];
  const schema = isObject(config) ? config['schema'] : undefined;
  // Lists are passed through unchanged, so they have no output schema, which always describes an object.
  if (!isObject(schema) || encoding.raw || encoding.name === 'json-collection') return null;
  return inheritedSchema(schema, 'validation/response-json-schema', 'output_schema', place) ?? null;
}

/** @param at JSON pointer of the output encoding. */
function checkBytes(
  { type, output_schema }: ToolConfig,
  { raw }: Encoding,
  site: Site<McpConfig>,
  pointer: string,
  at: string,
): void {
  if (type !== 'text' && !raw) {
    throw site.fault(
      'MCP_WORKFLOW',
      at,
      `a tool of type ${type} requires an endpoint that passes the body through undecoded`,
      {
        hint: 'Set "output_encoding" to "no-op".',
      },
    );
  }
  if (raw && output_schema) {
    throw site.fault(
      'MCP_SCHEMA',
      `${pointer}/output_schema`,
      'output_schema cannot be combined with output_encoding no-op',
      {
        hint: 'Set another output_encoding.',
      },
    );
  }
}
