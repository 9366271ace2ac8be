import { definePlugin } from '#contract';
import { jsonReply } from './lib/json-reply.ts';

/** Says that the gateway serves, and what its components tell of themselves. */
export const plugin = definePlugin({
  name: 'server/health',
  description: 'Serves the health endpoint.',
  always: ({ setting, reports }) => {
    const { health_path: path, disable_health: isOff } = setting('router');
    if (isOff) return {};
    return {
      routes: [
        {
          method: 'GET',
          path,
          description: 'Health of the gateway.',
          handle: () => jsonReply({ agents: reports(), now: new Date().toISOString(), status: 'ok' }),
        },
      ],
    };
  },
});
