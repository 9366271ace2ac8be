import { definePlugin } from '#contract';

/** The bytes of a long-lived answer as they come, whatever they are. Output only. */
export const plugin = definePlugin({
  name: 'encoding/streaming',
  description: "Passes the backend's stream to the client, every chunk as it arrives.",
  encodings: [{ name: 'streaming', raw: true, streams: true }],
});
