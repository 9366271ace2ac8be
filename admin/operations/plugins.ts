import type { Operation } from '../operation.ts';
import { Problem } from '../problem.ts';
import { jsonResponse, listOf, objectOf, oneOf, orNull, placeSchema, text, whole } from '../schemas.ts';
import { servedNow } from '../served.ts';

const plugin = objectOf('Plugin', {
  name: text,
  description: text,
  kind: oneOf(['core']),
  version: text,
  file: orNull(text),
  hash: orNull(text),
  namespaces: listOf(text),
  places: listOf(placeSchema),
  instances: whole,
  calls: whole,
  errors: whole,
});

export const plugins: Operation = {
  method: 'GET',
  path: '/v1/plugins',
  scope: 'read',
  summary: 'List the plugins, where each is used and what the endpoints it stands in have served.',
  responses: { 200: jsonResponse('By name.', objectOf('Plugins', { plugins: listOf(plugin) })) },
  async handle(ctx, { gateway }) {
    const { served, positionOf: find } = servedNow(gateway);
    const alive = gateway.processes.held.length;
    ctx.body = { plugins: await gateway.components.list(served, alive, find) };
  },
};

/** Empties what components of the serving configuration keep under a name, in every worker. */
export const emptyCache: Operation = {
  method: 'DELETE',
  path: '/v1/caches/:name',
  scope: 'ops',
  summary: 'Empty a cache.',
  parameters: [
    { name: 'name', in: 'path', description: 'Name of the cache, as in http.', schema: text, required: true },
  ],
  responses: { 204: { description: 'It is empty now.' } },
  problems: ['not-found'],
  handle(ctx, { gateway }) {
    const { name } = ctx['params'] as { readonly name: string };
    if (gateway.emptyCache(name)) {
      ctx.status = 204;
      return;
    }
    const known = gateway.caches.length > 0 ? `there are ${gateway.caches.join(', ')}` : 'no component keeps one';
    throw new Problem('not-found', `there is no cache named ${name}: ${known}`);
  },
};
