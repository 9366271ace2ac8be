import {
  type ClientRequest,
  type Data,
  type DataObject,
  type EndpointConfig,
  isObject,
  makeRequest,
  printJson,
  Query,
  RequestBody,
  textOf,
} from '#contract';

/** The arguments do not form a valid request of the endpoint. The message is returned to the model. */
export class ArgumentError extends Error {}

/** Destination of each argument in a request to an endpoint. */
export interface Places {
  /** The path, split into constant pieces (even indexes) and variable names (odd indexes). */
  readonly pieces: readonly string[];
  readonly path: ReadonlySet<string>;
  /** Names of query parameters. Without a body, all other arguments are also sent in the query. */
  readonly query: ReadonlySet<string>;
  readonly hasBody: boolean;
}

const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'QUERY']);

export function placesOf({ endpoint: { endpoint, input_query_strings }, method }: Requested): Places {
  // The path prefix of a virtual host is omitted, because `Host` selects the endpoint.
  const pieces = endpoint.replace(/^\/__virtual\/[^/]*/, '').split(/\{([^{}]+)\}/);
  return {
    pieces,
    path: new Set(pieces.filter((_piece, at) => at % 2 === 1)),
    query: new Set(input_query_strings.filter((name) => name !== '*')),
    hasBody: methodsWithBody.has(method),
  };
}

/** Headers that make the endpoint's spans part of the client's trace. */
const traceHeaders = /^(?:traceparent|tracestate|b3|x-b3-[a-z]+)$/;

/** An endpoint and the method that a tool uses to call it. */
export interface Requested {
  readonly endpoint: EndpointConfig;
  /** The endpoint's method, or the tool's if the endpoint serves every method. */
  readonly method: string;
}

/** Builds a request. @throws ArgumentError. */
export type ToEndpoint = (args: DataObject, client: ClientRequest) => ClientRequest;

/**
 * Compiles the mapping from arguments to a request. Each argument is placed where the endpoint expects it: in its path,
 * in the allowed query parameters, or otherwise in the JSON body (in the query without a body). The address, host
 * and certificate are those of the client.
 *
 * @param headerNames client headers to forward, in addition to the trace headers.
 * @param ofBody arguments that are always part of the body, even if they are also in the path or query.
 */
export function compileEndpointRequest(
  requested: Requested,
  headerNames: readonly string[],
  ofBody: ReadonlySet<string>,
): ToEndpoint {
  const { endpoint, method } = requested;
  const places = placesOf(requested);
  const allowed = new Set(headerNames.map((name) => name.toLowerCase()));
  const isElsewhere = (name: string) => places.path.has(name) || places.query.has(name);
  return (args, client) => {
    const path = pathOf(places, args);
    const match = client.with({ method, path }).match();
    if (match?.endpoint !== endpoint.endpoint || match.method !== endpoint.method) {
      throw new ArgumentError(unreachable(places, args, endpoint.endpoint));
    }
    const entries = Object.entries(args);
    const query = new Query();
    for (const [name, value] of entries) {
      if (places.query.has(name) || !(places.hasBody || places.path.has(name))) addTo(query, name, value);
    }
    const headers = client.headers.copy();
    headers.filter((name) => allowed.has(name) || traceHeaders.test(name));
    let body: RequestBody | null = null;
    if (places.hasBody) {
      const sent = entries.filter(([name]) => !isElsewhere(name) || ofBody.has(name));
      body = RequestBody.of(printJson(Object.fromEntries(sent)));
      headers.list.push('Content-Type', 'application/json');
    }
    const { ip, host, secure, certificate } = client;
    return makeRequest(
      { method, path, search: query.toString(), headers, body, ip, host, secure, certificate },
      (...target) => client.with({ method: target[0], path: target[1], host: target[2] }).match(),
    );
  };
}

function pathOf({ pieces }: Places, args: DataObject): string {
  return pieces.map((piece, at) => (at % 2 === 0 ? encodeURI(piece) : segmentOf(args, piece))).join('');
}

function segmentOf(args: DataObject, name: string): string {
  const value = Object.hasOwn(args, name) ? args[name] : null;
  if (value == null) throw new ArgumentError(`the argument ${name} is missing`);
  if (Array.isArray(value) || isObject(value)) throw new ArgumentError(`the argument ${name} must be a single value`);
  const text = textOf(value);
  if (text === '') throw new ArgumentError(`the argument ${name} must not be empty`);
  if (text === '.' || text === '..') throw new ArgumentError(notOneSegment(name));
  return encodeURIComponent(text.toWellFormed());
}

/** Explains why the arguments result in a request for a different endpoint. */
function unreachable({ path }: Places, args: DataObject, endpoint: string): string {
  const split = [...path].find((name) => /[/\\]/.test(textOf(args[name]!)));
  return split === undefined
    ? `with these arguments, the path belongs to another endpoint than ${endpoint}: change ${[...path].join(', ')}`
    : notOneSegment(split);
}

function notOneSegment(name: string): string {
  return `the argument ${name} must be a single path segment: it must not contain "/" and must not be "." or ".."`;
}

/** Appends a list as several values; null is omitted. */
function addTo(query: Query, name: string, value: Data): void {
  for (const each of Array.isArray(value) ? value : [value]) if (each !== null) query.append(name, textOf(each));
}
