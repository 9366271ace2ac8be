import { definePlugin } from '#contract';
import { jsonReply } from './lib/json-reply.ts';

/** Reports that the gateway serves, with the status of its components. */
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
