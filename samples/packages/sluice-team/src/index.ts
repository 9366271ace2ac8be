import { after, atEndpoint, definePlugin } from 'sluice/plugin';
import { HEADER } from './header.js';

export const plugin = definePlugin({
  name: 'acme/team',
  contract: 1,
  description: 'Tells clients which team runs an endpoint.',
  places: [
    atEndpoint(
      {
        type: 'object',
        examples: [{ team: 'accounts' }],
        required: ['team'],
        properties: { team: { type: 'string', minLength: 1, description: 'Name of the team.' } },
      },
      ({ config }) => ({
        endpoint: after((reply) => {
          reply.headers.set(HEADER, config.team);
        }),
      }),
    ),
  ],
});
