import compress from 'koa-compress';
import { definePlugin } from 'sluice/plugin';
export const plugin = definePlugin({
  name: 'acme/compress',
  contract: 1,
  description: 'Compresses responses.',
  always: () => ({ middleware: compress(), readsReply: true }),
});
