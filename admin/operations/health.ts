import type { Operation } from '../operation.ts';
import { reasonsNotReady } from '../processes.ts';
import { jsonResponse, listOf, objectOf, text } from '../schemas.ts';

/** Schemas of the health responses. */
const healthy = objectOf('Healthy', { status: text });
const unhealthy = objectOf('Unhealthy', { status: text, reasons: listOf(text) });

/** Event loop lag, in milliseconds, beyond which the process cannot serve. */
const MAX_LAG_MS = 5_000;

export const live: Operation = {
  method: 'GET',
  path: '/live',
  scope: null,
  summary: 'Liveness: whether the event loop of the process is running.',
  responses: {
    200: jsonResponse('It does.', healthy),
    503: jsonResponse('The event loop is blocked or very slow.', unhealthy),
  },
  handle(ctx, { operating }) {
    const { ms } = operating.loopLag;
    const isLate = ms > MAX_LAG_MS;
    ctx.status = isLate ? 503 : 200;
    ctx.body = isLate ? { status: 'error', reasons: [`the event loop is ${ms} ms late`] } : { status: 'ok' };
  },
};

/** A rejected configuration does not affect readiness: the previous one keeps serving. */
export const ready: Operation = {
  method: 'GET',
  path: '/ready',
  scope: null,
  summary: 'Readiness: whether the gateway should receive requests.',
  responses: {
    200: jsonResponse('They should.', healthy),
    503: jsonResponse('The gateway is draining or has not started; send requests to another instance.', unhealthy),
  },
  handle(ctx, { gateway }) {
    const reasons = reasonsNotReady(gateway);
    ctx.status = reasons.length > 0 ? 503 : 200;
    ctx.body = reasons.length > 0 ? { status: 'error', reasons } : { status: 'ok' };
  },
};
