import { definePlugin } from '#contract';
import { jsonReply } from './lib/json-reply.ts';

/** Readiness endpoint on the client port, where probes of load balancers and Kubernetes can reach it. */
export const plugin = definePlugin({
  name: 'server/ready',
  description: 'Serves the readiness endpoint.',
  always: ({ fault, setting, use }) => {
    const { ready_path: path, disable_ready: isOff, health_path: health, disable_health: noHealth } = setting('router');
    if (isOff) return {};
    if (path === health && !noHealth) {
      const pointer = '/extra_config/router/ready_path';
      throw fault('ROUTE_COLLISION', pointer, `ready_path and health_path are both "${path}"`, {
        hint: 'Choose another path for one of them.',
      });
    }
    const readiness = use('readiness');
    return {
      routes: [
        {
          method: 'GET',
          path,
          description: 'Readiness of the gateway.',
          handle: () => {
            const { isDraining } = readiness;
            return isDraining
              ? jsonReply({ status: 'error', reasons: ['draining'] }, 503)
              : jsonReply({ status: 'ok' }, 200);
          },
        },
      ],
    };
  },
});
