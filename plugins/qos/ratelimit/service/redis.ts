import { atService, before, definePlugin } from '#contract';
import { lacksParam } from '../../../services/param-of-path.ts';
import { redisConnections } from '../../../services/redis/port.ts';
import { redisLimit, redisLimitSchema } from '../../lib/redis-limit.ts';

/**
 * Limits how many requests all endpoints of all gateways together accept: as `qos/ratelimit/service`, with counters in Redis.
 * What Redis does not count is refused with 500, or passes where `on_failure_allow` says so.
 */
export const plugin = definePlugin({
  name: 'qos/ratelimit/service/redis',
  description: 'Limits how many requests all endpoints of all gateways together accept, by counters in Redis.',
  leaves: ['requests', 'data'],
  takes: [redisConnections],
  places: [
    atService(redisLimitSchema, (site) => {
      const limit = redisLimit(site, site.config, 'service');
      if (!limit) return {};
      const { admit, admitAll } = limit;
      return {
        eachEndpoint: ({ endpoint }) => {
          const hook = lacksParam(endpoint.endpoint, site.config) ? admitAll : admit;
          return hook ? { endpoint: before(hook) } : {};
        },
      };
    }),
  ],
});
