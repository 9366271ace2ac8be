import type { Operation } from '../operation.ts';
import { jsonAnswer, listOf, objectOf, oneOf, whole } from '../schemas.ts';

const generation = objectOf('Generation', {
  revision: whole,
  state: oneOf(['current', 'draining']),
  requests: whole,
  streams: whole,
  ageMs: whole,
});

export const generations: Operation = {
  method: 'GET',
  path: '/v1/generations',
  scope: 'read',
  summary: 'List the configuration that serves and those before it that still have requests.',
  answers: { 200: jsonAnswer('Newest first.', objectOf('Generations', { generations: listOf(generation) })) },
  handle(ctx, { gateway }) {
    ctx.body = { generations: gateway.processes.held };
  },
};
