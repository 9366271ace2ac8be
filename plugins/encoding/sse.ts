import { definePlugin } from '#contract';
import { openEvents } from './lib/server-sent-events.ts';

/** Server-sent events. Output only. */
export const plugin = definePlugin({
  name: 'encoding/sse',
  description: 'Streams server-sent events one by one. Components process the data of each event.',
  encodings: [
    { name: 'sse', raw: true, streams: true, messages: { contentType: 'text/event-stream', open: openEvents } },
  ],
});
