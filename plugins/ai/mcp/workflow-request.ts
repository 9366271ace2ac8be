import {
  type BackendConfig,
  type ClientRequest,
  type DataObject,
  isObject,
  type Params,
  PipeRequest,
  paramKey,
  printJson,
  Query,
  RequestBody,
  textOf,
} from '#contract';

/**
 * Pattern of the parameters that contain responses of workflow backends, such as `Resp0_id`. Arguments never set them.
 */
const ofResponses = /^Resp\d+(?:_|$)/;

/** Builds the request of a workflow from the arguments of a call. */
export type ToWorkflow = (args: DataObject, client: ClientRequest) => PipeRequest;

/**
 * Compiles the mapping from arguments to a workflow request. The arguments form the body, and scalar arguments are also
 * parameters. Parameters of the endpoint, such as path variables and claims, take precedence over arguments of the same
 * name. Backends that list an argument in `input_query_strings` also receive it in the query.
 *
 * @param headerNames client headers to forward.
 * @param agent the gateway's `User-Agent`.
 */
export function compileRequest(
  headerNames: readonly string[],
  backends: readonly Pick<BackendConfig, 'input_query_strings'>[],
  agent: string,
): ToWorkflow {
  const allowed = new Set(headerNames.map((name) => name.toLowerCase()));
  const listed = new Set(backends.flatMap(({ input_query_strings: names = [] }) => names));
  return (args, client) => {
    const params: Params = {};
    const query = new Query();
    for (const [name, value] of Object.entries(args)) {
      if (value === null || Array.isArray(value) || isObject(value) || name === '__proto__') continue;
      const text = textOf(value);
      const key = paramKey(name);
      if (!ofResponses.test(key)) params[key] = text;
      if (listed.has(name) || listed.has('*')) query.append(name, text);
    }
    const headers = client.headers.copy();
    headers.filter((name) => allowed.has(name));
    headers.list.push('X-Forwarded-For', client.ip, 'X-Forwarded-Host', client.host);
    if (!headers.has('user-agent')) headers.list.push('User-Agent', agent);
    headers.list.push('Content-Type', 'application/json');
    const request = new PipeRequest(
      client,
      { ...params, ...client.params },
      query,
      headers,
      RequestBody.of(printJson(args)),
    );
    request.method = 'POST';
    return request;
  };
}

/** Headers that the gateway sets itself, or that belong to one connection. */
export const ownHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'expect',
  'x-forwarded-client-cert',
  'x-forwarded-for',
  'x-forwarded-host',
]);
