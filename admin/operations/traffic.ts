import { statusClasses } from '#kernel';
import { trafficIntervals } from '../operating/traffic-recorders.ts';
import type { Operation } from '../operation.ts';
import { queryNumber, queryWord } from '../parameters.ts';
import { type JsonSchema, jsonResponse, listOf, objectOf, oneOf, orNull, text, whole } from '../schemas.ts';

const number: JsonSchema = { type: 'number' };

const endpointSample = objectOf('EndpointSample', {
  endpoint: text,
  calls: whole,
  errors: whole,
  p99Ms: orNull(number),
});

const trafficSample = objectOf('TrafficSample', {
  id: whole,
  endedAt: whole,
  durationMs: whole,
  calls: whole,
  errors: whole,
  statuses: listOf(whole),
  p50Ms: orNull(number),
  p95Ms: orNull(number),
  p99Ms: orNull(number),
  inProgress: whole,
  connections: whole,
  cpu: number,
  rssBytes: whole,
  loopLagMs: number,
  endpoints: listOf(endpointSample),
});

export const traffic: Operation = {
  method: 'GET',
  path: '/v1/traffic',
  scope: 'read',
  summary: 'Return the traffic of all endpoints as a time series: the last hour, or the last minute by the second.',
  parameters: [
    {
      name: 'interval',
      in: 'query',
      description:
        'Duration of a sample. Samples of 1 s are only taken while clients read them: the first response is empty.',
      schema: { ...oneOf(trafficIntervals), default: '10s' },
    },
    {
      name: 'after',
      in: 'query',
      description: 'Number of the last sample that the client has received: only later ones are returned.',
      schema: { type: 'integer', minimum: 0, default: 0 },
    },
  ],
  responses: {
    200: jsonResponse(
      'The samples, oldest first.',
      objectOf('Traffic', {
        intervalMs: whole,
        statusClasses: listOf(text),
        samples: listOf(trafficSample),
      }),
    ),
  },
  handle(ctx, { operating }) {
    const recorder = operating.traffic[queryWord(ctx, 'interval', trafficIntervals)];
    const after = queryNumber(ctx, 'after', { whole: true }) ?? 0;
    ctx.body = { intervalMs: recorder.intervalMs, statusClasses, samples: recorder.after(after) };
  },
};
