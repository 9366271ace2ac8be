import type { Operation } from '../operation.ts';
import { jsonAnswer, listOf, objectOf, objectWith, text } from '../schemas.ts';

/** A loop that turns so slowly serves nobody, in milliseconds. */
const MAX_LAG_MS = 5_000;

export const live: Operation = {
  method: 'GET',
  path: '/live',
  scope: null,
  summary: 'Tell whether the process still turns its event loop.',
  answers: {
    200: jsonAnswer('It does.', objectOf({ status: text })),
    503: jsonAnswer('It hardly does.', objectWith({ status: text, reasons: listOf(text) }, 'status', 'reasons')),
  },
  handle(ctx, { operating }) {
    const { ms } = operating.loopLag;
    const isLate = ms > MAX_LAG_MS;
    ctx.status = isLate ? 503 : 200;
    ctx.body = isLate ? { status: 'error', reasons: [`the event loop is ${ms} ms late`] } : { status: 'ok' };
  },
};
