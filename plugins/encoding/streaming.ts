import { definePlugin } from '#contract';

/** The bytes of a long-lived response as they arrive, in any format. Output only. */
export const plugin = definePlugin({
  name: 'encoding/streaming',
  description: "Streams the backend's response to the client chunk by chunk.",
  encodings: [{ name: 'streaming', raw: true, streams: true }],
});
