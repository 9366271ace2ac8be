import { atService, definePlugin } from '#contract';
import { redisConnections } from '../../../clients/redis/port.ts';
import { serviceLimits } from '../../../shared/ports/service-limits.ts';
import { overService } from '../../lib/over-service.ts';
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
  places: [atService(redisLimitSchema, (site) => overService(redisLimit(site, site.config, 'service'), site.config))],
});
