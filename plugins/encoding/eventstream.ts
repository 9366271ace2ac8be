import { definePlugin } from '#contract';
import { openEventFrames } from './lib/event-frames.ts';

/** Binary event frames as sent by AWS services. Output only. */
export const plugin = definePlugin({
  name: 'encoding/eventstream',
  description: 'Streams AWS event stream frames one by one. Components process the JSON payload of each frame.',
  encodings: [
    {
      name: 'eventstream',
      raw: true,
      streams: true,
      messages: { contentType: 'application/vnd.amazon.eventstream', open: openEventFrames },
    },
  ],
});
