import type { Encoding, EndpointConfig } from '#contract';
import type { Operations } from '#kernel';
import { type OpenApi, type OpenApiOperation, type OpenApiParameter, operationIdOf, pathsOf } from './document.ts';

type Route = Operations['serving']['compiled']['routes'][number];

/** Answers what nothing else does: it has no path of its own. */
const CATCH_ALL = '/__catchall';

/** Headers that OpenAPI describes by other means. */
const describedElsewhere = new Set(['accept', 'content-type', 'authorization']);

const text = { type: 'string' } as const;

/** Describes the API that clients are served. */
export function describeServed({ serving, status }: Pick<Operations, 'serving' | 'status'>): OpenApi {
  const { config, compiled } = serving;
  const spelled = new Map<string, string>();
  const operations = compiled.routes
    .filter(({ endpoint }) => endpoint.endpoint !== CATCH_ALL)
    .map((route) => {
      const path = spellOnce(spelled, route.endpoint.endpoint.replace(/\*$/, '{wildcard}'));
      return [path, route.endpoint.method, describe(route, path)] as const;
    });
  return {
    openapi: '3.1.0',
    info: { title: config.name || 'API', version: String(status.revision) },
    paths: pathsOf(operations),
  };
}

/** Paths that differ only in the names of their variables are one to OpenAPI: the first spelling stands for all. */
function spellOnce(spelled: Map<string, string>, path: string): string {
  const shape = path.replace(/\{[^}]*\}/g, '{}');
  const known = spelled.get(shape);
  if (known === undefined) spelled.set(shape, path);
  return known ?? path;
}

function describe({ endpoint, output }: Route, path: string): OpenApiOperation {
  const open = ['input_headers', 'input_query_strings'].filter((field) =>
    endpoint[field as 'input_headers' | 'input_query_strings'].includes('*'),
  );
  const parameters = [
    ...[...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => parameter('path', name!)),
    ...named(endpoint.input_query_strings).map((name) => parameter('query', name)),
    ...named(endpoint.input_headers)
      .filter((name) => !describedElsewhere.has(name.toLowerCase()))
      .map((name) => parameter('header', name)),
  ];
  return {
    operationId: operationIdOf(endpoint.method, path.split('/')),
    ...(open.length > 0 && { description: open.map((field) => openLists[field]).join(' ') }),
    ...(parameters.length > 0 && { parameters }),
    ...(takesBody(endpoint) && { requestBody: { content: { '*/*': {} } } }),
    responses: { 200: { description: 'The answer.', content: contentOf(output) } },
  };
}

const openLists: Readonly<Record<string, string>> = {
  input_headers: 'All headers are passed on.',
  input_query_strings: 'All query parameters are passed on.',
};

function named(list: readonly string[]): string[] {
  return list.filter((name) => name !== '*' && name !== '');
}

function parameter(where: OpenApiParameter['in'], name: string): OpenApiParameter {
  return { name, in: where, required: where === 'path', schema: text };
}

function takesBody({ method }: EndpointConfig): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}

/** Media types an encoding may be asked for, besides the one it writes unasked. */
const askedFor = [undefined, 'application/json', 'application/xml', 'application/yaml', 'text/plain'];

/** The media types an output writes: by trying, since the encoding alone knows. */
function contentOf({ messages, encode }: Encoding): object {
  const written = messages
    ? [messages.contentType]
    : encode
      ? askedFor.map((accept) => encode({}, accept).contentType)
      : ['*/*'];
  const mediaTypes = new Set(written.map((type) => type.split(';')[0]!.trim()));
  return Object.fromEntries([...mediaTypes].map((type) => [type, {}]));
}
