import { atService, before, definePlugin, offer } from '#contract';
import { redisConnections } from '../../../clients/redis/port.ts';
import { lacksParam } from '../../../shared/parameters/declared.ts';
import { serviceLimits } from '../../../shared/ports/service-limits.ts';
import { redisLimit, redisLimitSchema } from '../../lib/redis-limit.ts';

/**
 * Limits the rate of requests to all endpoints across all gateways: like `qos/ratelimit/service`, with counters in
 * Redis. Requests that cannot be counted in Redis are rejected with 500, or allowed if `on_failure_allow` is set.
 */
export const plugin = definePlugin({
  name: 'qos/ratelimit/service/redis',
  description: 'Limits the request rate of all endpoints across all gateways, with counters in Redis.',
  leaves: ['requests', 'data'],
  offers: [serviceLimits],
  takes: [redisConnections],
  independent: true,
  places: [
    atService(redisLimitSchema, (site) => {
      const limit = redisLimit(site, site.config, 'service');
      if (!limit) return {};
      const { admit, admitAll } = limit;
      // Requests without an endpoint have no path variables.
      const ofOthers = lacksParam('', site.config) ? admitAll : admit;
      return {
        offers: ofOthers ? [offer(serviceLimits, ofOthers)] : [],
        eachEndpoint: ({ endpoint }) => {
          const hook = lacksParam(endpoint.endpoint, site.config) ? admitAll : admit;
          return hook ? { endpoint: before(hook) } : {};
        },
      };
    }),
  ],
});
