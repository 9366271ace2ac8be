import type { Operation } from '../operation.ts';

export const stop: Operation = {
  method: 'POST',
  path: '/v1/stop',
  scope: 'ops',
  summary: 'End the process when its requests have ended.',
  answers: { 202: { description: 'It ends.' } },
  handle(ctx, { operating, stop: end }) {
    operating.drain.start();
    ctx.body = null;
    ctx.status = 202;
    // The port this answer leaves by is closed too.
    ctx.res.once('close', end);
  },
};
