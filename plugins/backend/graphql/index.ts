import {
  type AtBackend,
  anyCase,
  atBackend,
  type BackendSite,
  type Call,
  CallError,
  type Data,
  type DataObject,
  definePlugin,
  type Infer,
  inheritsMethod,
  isObject,
  joinPointer,
  mayLoseDigits,
  type PipeRequest,
  parseExact,
  printJson,
  Query,
  Reply,
  RequestBody,
  type Schema,
  type Wrap,
} from '#contract';
import { nestingError } from '../../engines/documents/nesting.ts';
import { type FillVariables, filling, isOfRequest, placeholdersIn } from './variables.ts';

const schema = {
  type: 'object',
  title: 'GraphQL',
  examples: [
    {
      type: 'query',
      query: 'query Hero($episode: Episode) { hero(episode: $episode) { name } }',
      variables: { episode: 'JEDI' },
      operationName: 'Hero',
    },
    {
      type: 'mutation',
      query: 'mutation Review($review: ReviewInput!) { createReview(review: $review) { stars } }',
      variables: { review: { stars: 3 } },
      method: 'POST',
    },
  ],
  required: ['type'],
  exactlyOneOf: [['query', 'query_path']],
  properties: {
    type: {
      type: 'string',
      published: { pattern: anyCase(['query', 'mutation']) },
      description:
        'Operation type. A `query` takes its variables from `variables`; a `mutation` also from the JSON body of the request, which has precedence.',
      examples: ['query'],
    },
    query: { type: 'string', minLength: 1, description: 'GraphQL document.' },
    query_path: {
      type: 'string',
      minLength: 1,
      description: 'File that contains the GraphQL document. Watched for changes.',
    },
    variables: {
      type: 'object',
      description:
        'GraphQL variables. In queries, values like {name} are replaced with path parameters; {input_query_strings.name}, {input_headers.Name} and {JWT.claim} with other parts of the request.',
      default: {},
    },
    operationName: { type: 'string', description: 'Name of the operation to run.', default: '' },
    method: {
      type: 'string',
      enum: ['GET', 'POST'],
      description:
        "HTTP method of the GraphQL request. Default: the backend's method if it is GET or POST, otherwise POST.",
    },
  },
} as const satisfies Schema;

type Config = Infer<typeof schema>;

/** A GraphQL request without its variables. */
interface Operation {
  readonly query: string;
  readonly operationName?: string;
}

/** Converts ordinary requests to GraphQL requests. Errors in the server's response are treated as data. */
export const plugin = definePlugin({
  name: 'backend/graphql',
  description: 'Queries a GraphQL server with variables from the request.',
  places: [atBackend(schema, attach)],
});

function attach(site: BackendSite<Config>): AtBackend {
  const { config, backend, endpoint, encoding, log } = site;
  const type = config.type.toLowerCase();
  if (type !== 'query' && type !== 'mutation') {
    throw site.fault('GRAPHQL_TYPE', '/type', `"${config.type}" is not a valid operation type`, {
      hint: 'query or mutation',
    });
  }
  if ([endpoint.output_encoding, backend.encoding].some((name) => encoding(name)?.raw)) {
    throw site.fault('GRAPHQL_RAW', '', 'the response of a GraphQL server must be decoded', {
      hint: 'use another encoding than no-op',
    });
  }
  const method = methodOf(site);
  if (type === 'mutation' && method === 'GET') {
    site.warn('GRAPHQL_MUTATION_GET', '', 'servers reject mutations over GET', { hint: '"method": "POST"' });
  }
  const operation: Operation = {
    query: config.query ?? documentOf(site, config.query_path!),
    ...(config.operationName !== '' && { operationName: config.operationName }),
  };
  log.debug(`[GraphQL] Operation: ${type}, Method: ${method}`);
  const write = method === 'GET' ? asParameters : asBody;
  return { backend: type === 'query' ? querying(site, operation, write) : mutating(config, operation, write) };
}

/** Returns the method of this namespace, or else the backend's own method if GraphQL supports it, or else POST. */
function methodOf({ config, backend }: BackendSite<Config>): 'GET' | 'POST' {
  if (config.method !== undefined) return config.method;
  return backend.method === 'GET' && !backend[inheritsMethod] ? 'GET' : 'POST';
}

/** @throws ConfigError GRAPHQL_DOCUMENT */
function documentOf(site: BackendSite<Config>, path: string): string {
  const text = Buffer.from(site.read(path)).toString();
  if (text.trim() === '') throw site.fault('GRAPHQL_DOCUMENT', '/query_path', `${path} is empty`);
  return text;
}

type Write = (request: PipeRequest, operation: Operation, variables: DataObject) => void;

function querying(site: BackendSite<Config>, operation: Operation, write: Write): Wrap<PipeRequest> {
  const { variables } = site.config;
  const placeholders = placeholdersIn(variables);
  const known = [...site.endpoint.endpoint.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name);
  for (const { key, name } of placeholders) {
    if (known.includes(name) || isOfRequest(name)) continue;
    site.warn(
      'GRAPHQL_VARIABLE',
      joinPointer('/variables', key),
      `the path has no placeholder {${name}}: the variable is always empty`,
      {
        hint: known.map((each) => `{${each}}`).join(', ') || undefined,
      },
    );
  }
  const fill: FillVariables = placeholders.length === 0 ? () => variables : filling(variables, placeholders);
  return (next) => (request, call) => {
    write(request, operation, fill(request, call));
    return next(request, call);
  };
}

function mutating({ variables }: Config, operation: Operation, write: Write): Wrap<PipeRequest> {
  const join = (bytes: Uint8Array | undefined): DataObject => ({ ...variables, ...readObject(bytes) });
  return (next) => (request, call) => {
    const send = (bytes: Uint8Array | undefined): Reply | Promise<Reply> => {
      try {
        write(request, operation, join(bytes));
      } catch (error) {
        const reason = nestingError(error);
        return failed(reason === error ? error : refused((reason as Error).message));
      }
      return next(request, call);
    };
    const bytes = request.body?.bytesToParse();
    return bytes instanceof Promise ? received(bytes, call).then(send, failed) : send(bytes);
  };
}

/** Waits for the complete body. Rejects with the cancellation reason if the call has ended. */
function received(bytes: Promise<Uint8Array>, call: Call): Promise<Uint8Array> {
  return bytes.catch((error: Error) => {
    throw call.reason ?? error;
  });
}

/** @throws CallError GRAPHQL_BODY if the body is not a JSON object. */
function readObject(bytes: Uint8Array | undefined): DataObject {
  const text = bytes === undefined ? '' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  if (text.trim() === '') return {};
  let data: Data;
  try {
    data = mayLoseDigits(text) ? parseExact(text) : JSON.parse(text);
  } catch (error) {
    throw refused((error as Error).message);
  }
  if (!isObject(data)) throw refused('not an object');
  return data;
}

function refused(reason: string): CallError {
  return new CallError('GRAPHQL_BODY', `the body cannot be used as the variables of a mutation: ${reason}`, {
    view: { status: 400 },
  });
}

function failed(error: unknown): Reply {
  if (error instanceof CallError) return Reply.failed(error);
  throw error;
}

function asBody(request: PipeRequest, operation: Operation, variables: DataObject): void {
  prepare(request, 'POST');
  const payload: DataObject = { ...operation };
  if (Object.keys(variables).length > 0) payload['variables'] = variables;
  request.body = RequestBody.of(printJson(payload));
}

function asParameters(request: PipeRequest, { query, operationName }: Operation, variables: DataObject): void {
  prepare(request, 'GET');
  const parameters = new Query();
  parameters.set('query', query);
  if (operationName !== undefined) parameters.set('operationName', operationName);
  if (Object.keys(variables).length > 0) parameters.set('variables', printJson(variables));
  request.target += `${request.target.includes('?') ? '&' : '?'}${parameters}`;
  request.body = null;
}

/** Replaces the headers that describe the client's body. */
function prepare(request: PipeRequest, method: string): void {
  request.method = method;
  request.headers.delete('content-encoding');
  request.headers.delete('content-length');
  request.headers.set('Content-Type', 'application/json');
}
