import { atBackend, definePlugin } from '#contract';
import { breakerSchema, guard } from './guard.ts';

/**
 * Judges what the whole backend pipe made of a call: any error is a failure, be it a connection, a status, a body that
 * cannot be decoded, a rate limit or a script. With `no-op` the status is not looked at.
 */
export const plugin = definePlugin({
  name: 'qos/circuit-breaker',
  description: 'Stops calling a backend that keeps failing.',
  oldFields: { maxErrors: 'max_errors', logStatusChange: 'log_status_change' },
  leaves: ['requests', 'data'],
  places: [
    atBackend(breakerSchema, (site) => {
      const backend = guard(site, (reply) => reply.errors.length === 0);
      return backend ? { backend } : {};
    }),
  ],
});
