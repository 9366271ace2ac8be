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
  summary: 'Stream events.',
  parameters: [
    {
      name: 'types',
      in: 'query',
      description: 'Event types to send, separated by commas. `reload.*` selects all types with that prefix.',
      schema: { ...text, default: '*' },
    },
    {
      name: 'Last-Event-ID',
      in: 'header',
      description: 'ID of the last event received: the stream starts with the buffered events that follow it.',
      schema: { type: 'integer', minimum: 0 },
    },
  ],
  responses: {
    200: {
      description:
        'Server-sent events with JSON data; a comment in each event contains its time. The stream ends within 15 s after its token is revoked.',
      content: { 'text/event-stream': text },
    },
  },
  handle(ctx, { operating }) {
    const types = queryText(ctx, 'types')?.split(',');
    const unknown = types?.find((pattern) => !isEventPattern(pattern));
    if (unknown !== undefined) {
      const known = eventTypes.join(', ');
      throw new Problem(
        'bad-request',
        `types: unknown event types ${JSON.stringify(unknown)}; known types are ${known}`,
      );
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
