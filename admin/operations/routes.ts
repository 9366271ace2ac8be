import { endpointId, listRoutes, maskTexts, type RouteView } from '#kernel';
import type { Operation, Parameter } from '../operation.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { queryFlag, queryText } from '../parameters.ts';
import { jsonResponse, listOf, objectOf, objectWith, orNull, place, text, whole } from '../schemas.ts';
import { servedNow } from '../served.ts';

const backend = objectWith(
  'Backend',
  { method: text, hosts: listOf(text), urlPattern: text, encoding: text, namespaces: listOf(text), ...place },
  'method',
  'hosts',
  'urlPattern',
  'encoding',
  'namespaces',
  'pointer',
);

export const routeCounters = objectOf('RouteCounters', { calls: whole, errors: whole, streams: whole });

export const route = objectWith(
  'Route',
  {
    id: text,
    method: text,
    pattern: text,
    outputEncoding: text,
    timeoutMs: whole,
    namespaces: listOf(text),
    backends: listOf(backend),
    counters: routeCounters,
    ...place,
  },
  'id',
  'method',
  'pattern',
  'outputEncoding',
  'timeoutMs',
  'namespaces',
  'backends',
  'pointer',
);

const filter = (name: string, description: string): Parameter => ({ name, in: 'query', description, schema: text });

export const routes: Operation = {
  method: 'GET',
  path: '/v1/routes',
  scope: 'read',
  summary: 'List the endpoints with their backends, components, source positions and counters.',
  parameters: [
    filter('method', 'Includes only endpoints with this method.'),
    filter('prefix', 'Includes only endpoints whose path starts with this prefix.'),
    filter('namespace', 'Includes only endpoints that use this component.'),
    {
      name: 'streaming',
      in: 'query',
      description: 'Includes only endpoints with open streams, and those that forward WebSockets or event streams.',
      schema: { type: 'boolean', default: false },
    },
    ...pageParameters,
  ],
  responses: {
    200: jsonResponse(
      'The endpoints, in the order of their declaration.',
      objectOf('RoutePage', { routes: listOf(route), cursor: orNull(text) }),
    ),
  },
  handle(ctx, { gateway }) {
    const { served, positionOf: find } = servedNow(gateway);
    const method = queryText(ctx, 'method')?.toUpperCase();
    const wanted = { method, prefix: queryText(ctx, 'prefix'), namespace: queryText(ctx, 'namespace') };
    const { streamsByEndpoint } = gateway.processes;
    const lasting = new Set(
      served.compiled.published.filter(({ output }) => output.streams).map(({ endpoint }) => endpointId(endpoint)),
    );
    const isStreaming = (route: RouteView) =>
      streamsByEndpoint.has(route.id) || lasting.has(route.id) || isUpgrading(route);
    const found = listRoutes(served, wanted);
    const listed = queryFlag(ctx, 'streaming') ? found.filter(isStreaming) : found;
    const { items, cursor } = pageOf(ctx, listed, ({ id }) => id);
    const traffic = new Map(served.compiled.published.map((one) => [endpointId(one.endpoint), one.traffic]));
    ctx.body = {
      routes: items.map((item) => {
        const { calls, errors } = traffic.get(item.id)!;
        const streams = streamsByEndpoint.get(item.id) ?? 0;
        const backends = item.backends.map((one) => ({ ...one, ...find(one.pointer) }));
        return { ...maskTexts({ ...item, backends }), counters: { calls, errors, streams }, ...find(item.pointer) };
      }),
      cursor,
    };
  },
};

/** True for WebSockets. */
function isUpgrading({ namespaces, backends }: RouteView): boolean {
  return [namespaces, ...backends.map((backend) => backend.namespaces)].some((all) => all.includes('websocket'));
}
