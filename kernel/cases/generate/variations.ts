import type { Data, EndpointConfig } from '#contract';
import type { TestRequest } from '../test.ts';
import { type Baseline, type RequestParts, writeRequest } from './baseline.ts';

/** A request with the difference to the baseline of its endpoint. */
export interface Variation {
  readonly name: string;
  readonly request: TestRequest;
}

/** Size of a large body, in bytes. */
const LARGE_BYTES = 300_000;

/** Text whose characters need encoding in paths and queries. */
const ENCODED = 'a b/é?&=+%';

type Vary = (parts: RequestParts, endpoint: EndpointConfig) => Partial<RequestParts> | null | undefined;

const withBody = (body: Data | undefined, headers: Readonly<Record<string, string>> = {}): Vary => {
  return (parts) => (parts.body === undefined ? null : { body, headers: { ...parts.headers, ...headers } });
};

const json = { 'Content-Type': 'application/json' };

/** Changes of a baseline request, by name; a change returns null if it does not apply to the request. */
const changes: Readonly<Record<string, Vary>> = {
  'without parameters': ({ query, headers }) =>
    query.length + Object.keys(headers).length > 0 ? { query: [], headers: {} } : null,
  'unlisted query parameter': ({ query }) => ({ query: [...query, ['unlisted', '1']] }),
  'repeated query parameter': ({ query: [first] }) => first && { query: [first, [first[0], 'second']] },
  'encoded query parameter': ({ query: [first] }) => first && { query: [[first[0], ENCODED]] },
  'empty query parameter': ({ query: [first] }) => first && { query: [[first[0], '']] },
  'unlisted header': ({ headers }) => ({ headers: { ...headers, 'X-Unlisted': '1', Cookie: 'unlisted=1' } }),
  'preferred format': ({ headers }) => ({ headers: { ...headers, Accept: 'text/html' } }),
  'encoded path variable': ({ params }) => withParams(params, encodeURIComponent(ENCODED)),
  'dotted path variable': ({ params }) => withParams(params, '1.5-a_b~c'),
  'without credentials': ({ required: { headers, query } }) =>
    Object.keys(headers).length + Object.keys(query).length > 0 ? { required: { headers: {}, query: {} } } : null,
  'without a body': withBody(undefined),
  'empty object as the body': withBody({}),
  'array as the body': withBody([1, 'a']),
  'body that is not JSON': withBody('{"id": 1,', json),
  'text as the body': withBody('text', { 'Content-Type': 'text/plain' }),
  'form as the body': withBody('a=1&b=2', { 'Content-Type': 'application/x-www-form-urlencoded' }),
  'large body': withBody(JSON.stringify({ id: 1, text: 'x'.repeat(LARGE_BYTES) }), json),
  'method HEAD': () => ({ method: 'HEAD', body: undefined }),
  'method OPTIONS': () => ({ method: 'OPTIONS', body: undefined }),
  'other method': ({ method }) => ({ method: method === 'DELETE' ? 'PUT' : 'DELETE', body: undefined }),
};

function withParams(params: RequestParts['params'], value: string): Partial<RequestParts> | null {
  const names = Object.keys(params);
  return names.length === 0 ? null : { params: Object.fromEntries(names.map((name) => [name, value])) };
}

/** Changes of the path of a request. */
const paths: Readonly<Record<string, (path: string) => string>> = {
  'trailing slash': (path) => (path.endsWith('/') ? path.slice(0, -1) || '/' : `${path}/`),
  'path in upper case': (path) => path.toUpperCase(),
  'doubled slash': (path) => `/${path}`,
  'further path segment': (path) => `${path}/more`,
};

/** Creates the requests that differ in one respect from the baseline of an endpoint, which comes first. */
export function variationsOf({ endpoint, parts, request }: Baseline): Variation[] {
  const changed = Object.entries(changes).flatMap(([name, vary]) => {
    const change = vary(parts, endpoint);
    return change ? [{ name, request: writeRequest(endpoint, { ...parts, ...change }) }] : [];
  });
  const moved = Object.entries(paths).flatMap(([name, move]) => {
    const [path, ...rest] = request.path.split('?');
    const next = [move(path!), ...rest].join('?');
    return next === request.path ? [] : [{ name, request: { ...request, path: next } }];
  });
  return [{ name: 'usual request', request }, ...changed, ...moved];
}
