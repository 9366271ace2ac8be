import type { Operation } from '../operation.ts';
import { Problem } from '../problem.ts';

export const drain: Operation = {
  method: 'POST',
  path: '/v1/drain',
  scope: 'ops',
  summary: 'Start draining: report not ready, and close connections after their response.',
  responses: { 202: { description: 'The gateway is draining, whether or not it was before.' } },
  handle(ctx, { operating }) {
    operating.drain.start();
    ctx.body = null;
    ctx.status = 202;
  },
};

export const resume: Operation = {
  method: 'POST',
  path: '/v1/resume',
  scope: 'ops',
  summary: 'Accept clients again after a drain.',
  responses: { 202: { description: 'The gateway accepts requests, whether or not it did before.' } },
  problems: ['draining'],
  handle(ctx, { gateway, operating }) {
    if (gateway.ending) throw new Problem('draining', 'the gateway is shutting down and no longer accepts clients');
    operating.drain.resume();
    ctx.body = null;
    ctx.status = 202;
  },
};

export const stop: Operation = {
  method: 'POST',
  path: '/v1/stop',
  scope: 'ops',
  summary: 'Shut down after the requests in progress have finished.',
  responses: { 202: { description: 'Shutting down.' } },
  handle(ctx, { operating, stop: end }) {
    operating.drain.start();
    ctx.body = null;
    ctx.status = 202;
    // The gateway stops after this response has been sent, because stopping also closes the admin port.
    ctx.res.once('close', end);
  },
};
