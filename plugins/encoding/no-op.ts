import { definePlugin } from '#contract';

/**
 * Passes status, headers and bytes of the single backend to the client unchanged. On an endpoint whose output is not
 * `no-op`, the body is not read: its data is an empty object.
 */
export const plugin = definePlugin({
  name: 'encoding/no-op',
  description: "Passes the backend's status, headers and body to the client unchanged.",
  encodings: [{ name: 'no-op', raw: true, decode: () => ({}) }],
});
