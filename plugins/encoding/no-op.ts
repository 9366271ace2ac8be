import { definePlugin } from '#contract';

/**
 * Status, headers and bytes of the one backend go to the client as they are. On an endpoint whose output is not `no-op`
 * nothing of the body is read: its data is an empty object.
 */
export const plugin = definePlugin({
  name: 'encoding/no-op',
  description: "Passes the backend's status, headers and body to the client unchanged.",
  encodings: [{ name: 'no-op', raw: true, decode: () => ({}) }],
});
