import { definePlugin } from '#contract';
import { openJsonLines } from './lib/json-lines.ts';

/** Newline-delimited JSON. Output only. */
export const plugin = definePlugin({
  name: 'encoding/ndjson',
  description: 'Streams newline-delimited JSON line by line. Components process each line.',
  encodings: [
    {
      name: 'ndjson',
      raw: true,
      streams: true,
      messages: { contentType: 'application/x-ndjson', open: openJsonLines },
    },
  ],
});
