import type { AgentStatus } from '#contract';
import { maskTexts } from '#kernel';
import type { Operation } from '../operation.ts';
import { jsonResponse, listOf, objectOf, objectWith, oneOf, orNull, place, text, whole } from '../schemas.ts';
import { servedNow } from '../served.ts';

const agentStatus = objectOf('AgentStatus', {
  state: oneOf(['connecting', 'connected', 'stopped']),
  since: text,
  retries: whole,
  inProgress: whole,
  waiting: whole,
  lagMs: whole,
  done: whole,
  failed: whole,
  discarded: whole,
  lastSuccessAt: orNull(text),
  lastFailure: orNull(objectOf('AgentFailure', { at: text, message: text })),
});

const members = {
  name: text,
  driver: text,
  topic: text,
  workers: whole,
  backends: listOf(text),
  status: orNull(agentStatus),
};

const agent = objectWith('Agent', { ...members, ...place }, ...Object.keys(members), 'pointer');

export const agents: Operation = {
  method: 'GET',
  path: '/v1/agents',
  scope: 'read',
  summary:
    'List the async agents with their connection, lag and results. `lagMs` is how long the oldest received message has waited for a worker. `status` is null if the driver does not report it.',
  responses: {
    200: jsonResponse('The agents, in the order of their declaration.', objectOf('Agents', { agents: listOf(agent) })),
  },
  handle(ctx, { gateway }) {
    const { served, positionOf: find } = servedNow(gateway);
    ctx.body = {
      agents: served.compiled.agents.map(({ agent: { name, consumer, backend }, driver, pointer, status }) => ({
        ...maskTexts({
          name,
          driver,
          topic: consumer.topic,
          workers: Math.max(consumer.workers, 1),
          backends: backend.map(({ method, host, url_pattern }) => `${method} ${host[0] ?? ''}${url_pattern}`),
          status: viewOf(status()),
        }),
        ...find(pointer),
      })),
    };
  },
};

function viewOf(status: AgentStatus | null): object | null {
  if (!status) return null;
  const { since, lastSuccessAt, lastFailure, ...rest } = status;
  return {
    ...rest,
    since: isoTime(since),
    lastSuccessAt: lastSuccessAt === null ? null : isoTime(lastSuccessAt),
    lastFailure: lastFailure && { at: isoTime(lastFailure.at), message: lastFailure.message },
  };
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}
