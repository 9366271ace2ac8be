import { eventTypes, isEventPattern } from '#kernel';
import { watchScope } from '../caller.ts';
import type { Operation } from '../operation.ts';
import { queryText } from '../parameters.ts';
import { Problem } from '../problem.ts';
import { text } from '../schemas.ts';

export const events: Operation = {
  method: 'GET',
  path: '/v1/events',
  scope: 'read',
  summary: 'Follow what happens.',
  parameters: [
    {
      name: 'types',
      in: 'query',
      description: 'Only these, separated by commas; reload.* for all of a kind.',
      schema: { ...text, default: '*' },
    },
    {
      name: 'Last-Event-ID',
      in: 'header',
      description: 'Begin with what is remembered of the events after this one.',
      schema: { type: 'integer', minimum: 0 },
    },
  ],
  responses: {
    200: {
      description: 'Server-sent events; data is JSON. Ends within 15 s after the token is withdrawn.',
      content: { 'text/event-stream': text },
    },
  },
  handle(ctx, { operating }) {
    const types = queryText(ctx, 'types')?.split(',');
    const unknown = types?.find((pattern) => !isEventPattern(pattern));
    if (unknown !== undefined) {
      const known = eventTypes.join(', ');
      throw new Problem('bad-request', `types: there are no events ${JSON.stringify(unknown)}; there are ${known}`);
    }
    const last = ctx.get('Last-Event-ID');
    if (!/^\d{0,15}$/.test(last)) throw new Problem('bad-request', 'Last-Event-ID must be a whole number');
    ctx.status = 200;
    ctx.type = 'text/event-stream';
    ctx.body = operating.eventStreams.open({
      isPermitted: watchScope(ctx, 'read'),
      ...(last && { after: Number(last) }),
      ...(types && { types }),
    });
  },
};
