import type { Operation } from '../operation.ts';
import { reasonsNotReady } from '../processes.ts';
import { jsonAnswer } from '../schemas.ts';
import { healthy, unhealthy } from './live.ts';

/** A refused configuration does not make it unready: the one before it serves on. */
export const ready: Operation = {
  method: 'GET',
  path: '/ready',
  scope: null,
  summary: 'Tell whether requests should be sent here.',
  answers: {
    200: jsonAnswer('They should.', healthy),
    503: jsonAnswer('They should go elsewhere.', unhealthy),
  },
  handle(ctx, { gateway }) {
    const reasons = reasonsNotReady(gateway);
    ctx.status = reasons.length > 0 ? 503 : 200;
    ctx.body = reasons.length > 0 ? { status: 'error', reasons } : { status: 'ok' };
  },
};
