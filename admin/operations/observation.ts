import { callerOf, watchScope } from '../caller.ts';
import type { Operation } from '../operation.ts';
import { queryText } from '../parameters.ts';
import { Problem } from '../problem.ts';
import { flag, type JsonSchema, listOf, mapOf, objectOf, orNull, text, whole } from '../schemas.ts';
import { routeCounters } from './routes.ts';

const number: JsonSchema = { type: 'number' };
const micros = listOf(orNull({ ...whole, description: 'Microseconds; null for a stage that is not timed.' }));

const stage = objectOf('Stage', { as: text, namespace: text });

const message = objectOf('ObservedMessage', {
  headers: listOf(listOf(text)),
  body: orNull(text),
  omitted: orNull({ ...text, description: 'Reason why the body is omitted.' }),
});

const observedRequest = objectOf('ObservedRequest', {
  id: text,
  pid: whole,
  startedAt: whole,
  method: text,
  target: text,
  requestId: orNull(text),
  status: whole,
  durationMs: number,
  completed: flag,
  sample: orNull(
    objectOf('ObservedSample', {
      times: orNull(
        objectOf('ObservedTimes', {
          pipeUs: whole,
          aroundUs: micros,
          backends: listOf(objectOf('ObservedBackend', { calls: whole, totalUs: whole, stagesUs: micros })),
        }),
      ),
      request: orNull(message),
      response: orNull(message),
    }),
  ),
});

const observation = objectOf('Observation', {
  at: whole,
  revision: whole,
  port: orNull({ ...whole, description: 'Port that clients connect to; null before it is open.' }),
  secure: { ...flag, description: 'True if clients connect with TLS.' },
  finished: whole,
  statusClasses: listOf(text),
  counters: routeCounters,
  traffic: orNull(
    objectOf('ObservedTraffic', {
      durationMs: whole,
      calls: whole,
      errors: whole,
      statuses: { ...listOf(whole), description: 'Number of responses, in the order of `statusClasses`.' },
      p50Ms: orNull(number),
      p95Ms: orNull(number),
      p99Ms: orNull(number),
    }),
  ),
  stages: objectOf('Stages', {
    around: listOf(stage),
    backends: listOf(
      objectOf('BackendStages', { stages: listOf(stage), condition: orNull(text), hostless: flag, keepsQuery: flag }),
    ),
  }),
  states: listOf(objectOf('ComponentState', { pid: whole, namespace: text, backend: orNull(whole), state: mapOf({}) })),
  requests: listOf(observedRequest),
});

export const observeEndpoint: Operation = {
  method: 'GET',
  path: '/v1/routes/observation',
  scope: 'read',
  summary:
    'Stream observations of an endpoint, twice a second: traffic, times of the stages of its pipe, states of its components, and sampled requests of its clients.',
  parameters: [
    {
      name: 'endpoint',
      in: 'query',
      required: true,
      description: 'ID of the endpoint, as in `GET /users/{id}`.',
      schema: text,
    },
  ],
  responses: {
    200: {
      description:
        'Server-sent events of the type `observation` with JSON data. Each process samples at most 20 requests a second, and reports the slowest of the others; nothing is sampled unless the stream is read. Credentials are masked. Headers and bodies are null unless the token has the scope `secrets`. The stream ends if the endpoint is removed, and within 15 s after its token is revoked.',
      content: { 'text/event-stream': { ...text, contentMediaType: 'application/json', contentSchema: observation } },
    },
  },
  problems: ['bad-request', 'not-found', 'too-many-requests'],
  handle(ctx, { operating }) {
    const endpoint = queryText(ctx, 'endpoint');
    if (endpoint === undefined) throw new Problem('bad-request', 'endpoint is required, as in "GET /users/{id}"');
    const scopes = callerOf(ctx)?.scopes;
    const body = operating.observations.open({
      endpoint,
      showsMessages: scopes === undefined || scopes.includes('secrets'),
      isPermitted: watchScope(ctx, 'read'),
    });
    if (body === null) throw new Problem('not-found', `the endpoint ${JSON.stringify(endpoint)} does not exist`);
    if (body === 'busy') throw new Problem('too-many-requests', 'too many endpoints are observed at the same time');
    ctx.status = 200;
    ctx.type = 'text/event-stream';
    ctx.body = body;
  },
};
