import { explainRequest, maskTexts } from '#kernel';
import type { Operation } from '../operation.ts';
import { readSampleRequest, sampleRequestSchema } from '../sample-request.ts';
import { documentOf, jsonResponse } from '../schemas.ts';
import { servedNow } from '../served.ts';

export const explain: Operation = {
  method: 'POST',
  path: '/v1/explain',
  scope: 'read',
  summary: 'Show how a request would be processed, and which requests its backends would receive. No request is sent.',
  accepts: ['application/json'],
  body: sampleRequestSchema,
  responses: {
    200: jsonResponse(
      'The matching endpoint and the requests to its backends.',
      documentOf('Explanation', 'The output of `sluice explain --format json`.'),
    ),
  },
  problems: ['bad-request'],
  async handle(ctx, admin) {
    const { method, path, headers } = await readSampleRequest(ctx, admin);
    const { served, positionOf } = servedNow(admin.gateway);
    ctx.body = maskTexts(await explainRequest(served, { method, target: path, headers }, positionOf));
  },
};
