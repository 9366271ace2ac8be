import { atEndpoint, before, definePlugin } from '#contract';
import { refuseUnknownParam } from '../../../services/param-of-path.ts';
import { redisConnections } from '../../../services/redis/port.ts';
import { redisLimit, redisLimitSchema } from '../../lib/redis-limit.ts';

/**
 * Limits how many requests one endpoint accepts, at all gateways together: counters are in Redis, by the endpoint's method and
 * path. Each limit is exact; what Redis does not count is refused with 500, or passes where `on_failure_allow` says so.
 */
export const plugin = definePlugin({
  name: 'qos/ratelimit/router/redis',
  description: 'Limits the request rate of an endpoint across all gateways, with counters in Redis.',
  leaves: ['requests', 'data'],
  takes: [redisConnections],
  places: [
    atEndpoint(redisLimitSchema, (site) => {
      refuseUnknownParam(site, site.config);
      const { method, endpoint } = site.endpoint;
      const limit = redisLimit(site, site.config, `${method}:${endpoint}`);
      return limit ? { endpoint: before(limit.admit) } : {};
    }),
  ],
});
