import type { Operation } from '../operation.ts';
import { Problem } from '../problem.ts';
import { jsonAnswer, listOf, objectOf, oneOf, orNull, placeSchema, text, whole } from '../schemas.ts';
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
  answers: { 200: jsonAnswer('By name.', objectOf('Plugins', { plugins: listOf(plugin) })) },
  async handle(ctx, { gateway }) {
    const { served, place: find } = servedNow(gateway);
    const alive = gateway.processes.held.length;
    ctx.body = { plugins: await gateway.components.list(served, alive, find) };
  },
};

/** Nothing this release keeps can be emptied by name: names of hosts are looked up by the system, records on a timer. */
export const emptyCache: Operation = {
  method: 'DELETE',
  path: '/v1/caches/:name',
  scope: 'ops',
  summary: 'Empty a cache.',
  parameters: [{ name: 'name', in: 'path', description: 'Name of the cache.', schema: text, required: true }],
  answers: { 204: { description: 'It is empty now.' } },
  problems: ['not-found'],
  handle(ctx) {
    const { name } = ctx['params'] as { readonly name: string };
    throw new Problem('not-found', `there is no cache named ${name}: this gateway keeps none that can be emptied`);
  },
};
