import { atEndpoint, before, definePlugin } from '#contract';
import { redisConnections } from '../../../clients/redis/port.ts';
import { refuseUnknownParam } from '../../../shared/parameters/declared.ts';
import { redisLimit, redisLimitSchema } from '../../lib/redis-limit.ts';

/**
 * Limits the rate of requests to one endpoint across all gateways: counters are in Redis, by the endpoint's method and
 * path. Each limit is exact; requests that cannot be counted in Redis are rejected with 500, or allowed if
 * `on_failure_allow` is set.
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
