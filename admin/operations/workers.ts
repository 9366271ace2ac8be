import type { Operation } from '../operation.ts';
import { hashOfRevision, workersOf } from '../processes.ts';
import { jsonResponse, listOf, objectOf, oneOf, orNull, text, whole } from '../schemas.ts';

const worker = objectOf('Worker', {
  id: whole,
  pid: orNull(whole),
  state: oneOf(['starting', 'up', 'stopping', 'down']),
  revision: orNull(whole),
  hash: orNull(text),
  uptimeMs: whole,
  requests: whole,
  connections: whole,
  loopLagMs: whole,
  lostLines: whole,
  rssBytes: whole,
  heapUsedBytes: whole,
  cpuMs: whole,
});

export const workers: Operation = {
  method: 'GET',
  path: '/v1/workers',
  scope: 'read',
  summary: 'List the worker processes.',
  responses: { 200: jsonResponse('The processes.', objectOf('Workers', { workers: listOf(worker) })) },
  handle(ctx, admin) {
    ctx.body = {
      workers: workersOf(admin).map(({ calls, streams, revision, ...worker }) => {
        return { ...worker, revision, hash: hashOfRevision(admin.gateway, revision) };
      }),
    };
  },
};

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
  summary: 'List the active configuration and earlier ones that still have requests.',
  responses: { 200: jsonResponse('Newest first.', objectOf('Generations', { generations: listOf(generation) })) },
  handle(ctx, { gateway }) {
    ctx.body = { generations: gateway.processes.held };
  },
};
