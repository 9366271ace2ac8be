import type { Operation } from '../operation.ts';
import { Problem } from '../problem.ts';
import { jsonResponse, shadowSchema } from '../schemas.ts';

export const readShadow: Operation = {
  method: 'GET',
  path: '/v1/shadow',
  scope: 'read',
  summary: 'Show the progress of the current shadow run, or the result of the last one.',
  responses: { 200: jsonResponse('The shadow run. It contains no values of responses.', shadowSchema) },
  problems: ['not-found'],
  handle(ctx, { operating }) {
    const { report } = operating.shadow;
    if (!report) throw new Problem('not-found', 'no shadow run has been started');
    ctx.body = report;
  },
};

export const stopShadow: Operation = {
  method: 'DELETE',
  path: '/v1/shadow',
  scope: 'write',
  summary: 'End the current shadow run early.',
  responses: { 200: jsonResponse('The result of the run.', shadowSchema) },
  problems: ['not-found'],
  async handle(ctx, { operating }) {
    const report = await operating.shadow.stop();
    if (!report) throw new Problem('not-found', 'no shadow run is in progress');
    ctx.body = report;
  },
};
