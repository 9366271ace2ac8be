import { type Data, type DataObject, type EndpointConfig, isObject, type Namespace, type Sample } from '#contract';
import { joinPointer, type KnownPlugins } from '../../config/index.ts';
import { ANY, VIRTUAL } from '../../contract/internal.ts';
import { type FilePosition, listRoutes, type RouteView, type Served } from '../../inspect/index.ts';
import { toRequest } from '../compile-test.ts';
import type { TestRequest } from '../test.ts';
import { sampleData } from './sample-data.ts';

/** Parts of a request before they are written as a request. */
export interface RequestParts {
  readonly method: string;
  /** Values of the path variables, by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  /** Headers and query parameters that components require, such as credentials. */
  readonly required: {
    readonly headers: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, string>>;
  };
  readonly body: Data | undefined;
}

/** A request that an endpoint accepts. */
export interface Baseline {
  /** JSON pointer of the endpoint in the normalized configuration. */
  readonly pointer: string;
  readonly route: RouteView;
  readonly endpoint: EndpointConfig;
  readonly parts: RequestParts;
  readonly request: TestRequest;
}

/** An endpoint without a request. */
export interface Omitted {
  readonly id: string;
  /** JSON pointer of the endpoint in the normalized configuration. */
  readonly pointer: string;
  readonly reason: string;
}

/** Requests that the endpoints of a configuration accept, with what a sandbox needs for them to be accepted. */
export interface Baselines {
  readonly requests: readonly Baseline[];
  /** Endpoints without a request, with the reason. */
  readonly omitted: readonly Omitted[];
  /** Settings of components in the sandbox, by the pointer of the component in the normalized configuration. */
  readonly settings: ReadonlyMap<string, DataObject>;
  /** JSON documents that components fetch, by URL. */
  readonly documents: ReadonlyMap<string, Data>;
}

/** A path that matches no declared endpoint, for the catch-all endpoint. */
export const UNKNOWN_PATH = '/sluice-unknown/path';

/**
 * Generates a request for each endpoint: the variables of its path filled in, the listed query parameters and headers,
 * a body that is valid for its schema, and the credentials that its components can provide. The same configuration and
 * seed generate the same requests, except for signatures.
 */
export async function baselinesOf(
  served: Pick<Served, 'config' | 'compiled'>,
  known: Pick<KnownPlugins, 'plugin'>,
  seed: number,
  position?: (pointer: string) => FilePosition,
): Promise<Baselines> {
  const requests: Baseline[] = [];
  const omitted: Omitted[] = [];
  const settings = new Map<string, DataObject>();
  const documents = new Map<string, Data>();
  const routes = new Map(listRoutes(served, {}, position).map((route) => [route.id, route]));
  for (const [at, endpoint] of served.config.endpoints.entries()) {
    const id = `${endpoint.method} ${endpoint.endpoint}`;
    const route = routes.get(id);
    if (!route) continue;
    if (endpoint.endpoint.startsWith(VIRTUAL)) {
      omitted.push({ id, pointer: joinPointer('/endpoints', at), reason: 'it belongs to a virtual host' });
      continue;
    }
    const samples = samplesOf(endpoint, served.config.extra_config, known);
    for (const [namespace, sample] of samples) {
      const pointer = joinPointer('/endpoints', at, 'extra_config', namespace);
      if (sample.settings) settings.set(pointer, sample.settings);
      for (const [url, document] of Object.entries(sample.documents ?? {})) documents.set(url, document);
    }
    const parts = await partsOf(endpoint, [...samples.values()], seed);
    requests.push({
      pointer: joinPointer('/endpoints', at),
      route,
      endpoint,
      parts,
      request: writeRequest(endpoint, parts),
    });
  }
  return { requests, omitted, settings, documents };
}

type Components = Readonly<DataObject>;

function samplesOf(
  { extra_config: own }: EndpointConfig,
  around: Components,
  known: Pick<KnownPlugins, 'plugin'>,
): Map<Namespace, Sample> {
  const samples = new Map<Namespace, Sample>();
  for (const [namespace, config] of Object.entries(own as Components)) {
    const ofService = Object.hasOwn(around, namespace) ? around[namespace]! : null;
    if (!isObject(config)) continue;
    const sample = known.plugin(namespace)?.sample?.(config, isObject(ofService) ? ofService : undefined);
    if (sample) samples.set(namespace, sample);
  }
  return samples;
}

const VARIABLE = /\{([^{}]*)\}/g;

const withBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'QUERY']);

/** Headers whose values must have a certain form, or that belong to the connection. */
const special: ReadonlySet<string> = new Set([
  '*',
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'te',
  'transfer-encoding',
  'upgrade',
]);

async function partsOf(endpoint: EndpointConfig, samples: readonly Sample[], seed: number): Promise<RequestParts> {
  const method = endpoint.method === ANY ? 'GET' : endpoint.method;
  // A component may require a number, so generated texts consist of digits.
  const number = (at: number) => String(100 + ((seed + 37 * at) % 900));
  const names = [...endpoint.endpoint.matchAll(VARIABLE)].map(([, name]) => name!);
  const headers = endpoint.input_headers.filter((name) => !special.has(name.toLowerCase()));
  const schema = samples.find(({ body }) => body !== undefined)?.body;
  const plain = withBody.has(method) ? { id: 1, name: 'sample' } : undefined;
  return {
    method,
    params: Object.fromEntries(names.map((name, at) => [name, number(at)])),
    query: endpoint.input_query_strings.filter((name) => name !== '*').map((name, at) => [name, number(at + 10)]),
    headers: Object.fromEntries(headers.map((name, at) => [name, `value-${number(at + 20)}`])),
    required: {
      headers: Object.assign({}, ...samples.map((sample) => sample.headers)),
      query: Object.assign({}, ...samples.map((sample) => sample.query)),
    },
    body: schema ? await sampleData(schema, seed) : plain,
  };
}

/** Writes the parts of a request to an endpoint. @param path in place of the endpoint's own. */
export function writeRequest({ endpoint }: EndpointConfig, parts: RequestParts, path?: string): TestRequest {
  const { method, params, query, required, body } = parts;
  const search = new URLSearchParams();
  for (const [name, value] of [...query, ...Object.entries(required.query)]) search.append(name, value);
  const text = search.size > 0 ? `?${search}` : '';
  const headers = { ...parts.headers, ...required.headers };
  const request = { method, path: (path ?? pathOf(endpoint, params)) + text, headers };
  return toRequest(body === undefined ? request : { ...request, body }, '');
}

/** Fills in the variables of a path, without encoding them. */
function pathOf(endpoint: string, params: RequestParts['params']): string {
  if (endpoint.startsWith('/__catchall')) return UNKNOWN_PATH;
  return endpoint.replace(VARIABLE, (_, name: string) => params[name] ?? name).replace(/\/\*$/, '/any/path');
}
