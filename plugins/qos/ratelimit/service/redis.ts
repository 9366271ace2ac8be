import { atService, before, definePlugin, offer } from '#contract';
import { lacksParam } from '../../../services/param-of-path.ts';
import { redisConnections } from '../../../services/redis/port.ts';
import { serviceLimits } from '../../../services/service-limits.ts';
import { redisLimit, redisLimitSchema } from '../../lib/redis-limit.ts';

/**
 * Limits how many requests all endpoints of all gateways together accept: as `qos/ratelimit/service`, with counters in Redis.
 * What Redis does not count is refused with 500, or passes where `on_failure_allow` says so.
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
      // A path variable is none of what no endpoint is for.
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
