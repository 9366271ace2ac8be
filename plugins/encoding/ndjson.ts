import { definePlugin } from '#contract';
import { openJsonLines } from './lib/json-lines.ts';

/** Newline-delimited JSON. Output only. */
export const plugin = definePlugin({
  name: 'encoding/ndjson',
  description: 'Passes lines of JSON one by one; components see each.',
  encodings: [
    {
      name: 'ndjson',
      raw: true,
      streams: true,
      messages: { contentType: 'application/x-ndjson', open: openJsonLines },
    },
  ],
});
