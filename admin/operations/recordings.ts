import type { Operation } from '../operation.ts';
import { queryNumber } from '../parameters.ts';
import { Problem } from '../problem.ts';
import { documentOf, jsonResponse } from '../schemas.ts';

/** Default and maximum number of requests in a response. */
const DEFAULT_COUNT = 100;
const MAX_COUNT = 100_000;

/** The requests that telemetry/recorder keeps in memory, of all workers. */
export const recordings: Operation = {
  method: 'GET',
  path: '/v1/recordings',
  scope: 'secrets',
  summary: 'Return the latest recorded requests as a HAR file.',
  parameters: [
    {
      name: 'limit',
      in: 'query',
      description: 'Maximum number of recorded requests.',
      schema: { type: 'integer', minimum: 1, maximum: MAX_COUNT, default: DEFAULT_COUNT },
    },
  ],
  responses: {
    200: jsonResponse(
      'The recorded requests, oldest first, each followed by its backend calls.',
      documentOf('Har', 'A file in the HAR 1.2 format.'),
    ),
  },
  problems: ['not-found'],
  handle(ctx, { gateway }) {
    const count = queryNumber(ctx, 'limit', { least: 1, most: MAX_COUNT, whole: true }) ?? DEFAULT_COUNT;
    const har = gateway.recordings(count);
    if (har === null) throw new Problem('not-found', 'no component records traffic: configure telemetry/recorder');
    ctx.type = 'application/json';
    ctx.body = har;
  },
};
