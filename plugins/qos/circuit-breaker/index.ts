import { atBackend, definePlugin } from '#contract';
import { breakerSchema, guard } from './guard.ts';

/**
 * Evaluates the result of the whole backend pipe: any error is a failure, including connection errors, error status
 * codes, bodies that cannot be decoded, rate limits and scripts. With `no-op`, the status code is ignored.
 */
export const plugin = definePlugin({
  name: 'qos/circuit-breaker',
  description: 'Stops calling a backend that keeps failing.',
  oldFields: { maxErrors: 'max_errors', logStatusChange: 'log_status_change' },
  leaves: ['requests', 'data'],
  places: [
    atBackend(breakerSchema, (site) => {
      const guarded = guard(site, (reply) => reply.errors.length === 0);
      return guarded ? { backend: guarded.wrap, state: guarded.state } : {};
    }),
  ],
});
