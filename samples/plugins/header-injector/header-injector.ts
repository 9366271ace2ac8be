import { after, atBackend, atEndpoint, before, definePlugin, type Schema } from 'sluice/plugin';

const schema = {
  type: 'object',
  examples: [{ set: { 'X-Team': 'checkout' } }],
  required: ['set'],
  properties: {
    set: { type: 'object', values: { type: 'string' }, description: 'Headers and their values.' },
  },
} as const satisfies Schema;

export const plugin = definePlugin({
  name: 'acme/header-injector',
  contract: 1,
  description: 'Sets headers: in an endpoint on its responses, in a backend on the requests to it.',
  places: [
    atEndpoint(schema, ({ config }) => {
      const headers = Object.entries(config.set);
      return {
        endpoint: after((reply) => {
          for (const [name, value] of headers) reply.headers.set(name, value);
        }),
      };
    }),
    atBackend(schema, ({ config }) => {
      const headers = Object.entries(config.set);
      return {
        sets: Object.keys(config.set),
        backend: before((request) => {
          for (const [name, value] of headers) request.headers.set(name, value);
        }),
      };
    }),
  ],
});
