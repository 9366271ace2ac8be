import type { Operation } from '../operation.ts';
import { Problem } from '../problem.ts';
import { text } from '../schemas.ts';

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
