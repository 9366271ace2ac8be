import { atService, definePlugin } from '#contract';
import { serviceLimits } from '../../shared/ports/service-limits.ts';
import { overService } from '../lib/over-service.ts';
import { requestLimit, requestLimitSchema } from '../lib/request-limit.ts';

/**
 * Limits the rate of requests to all endpoints together, before any component of an endpoint. Counters are in memory,
 * shared by all workers; they survive reloads, including those that change the limit, which then applies immediately. A
 * path variable identifies clients at the endpoints that have it; elsewhere the limit per client does not apply. Files
 * of server/static-filesystem count too.
 */
export const plugin = definePlugin({
  name: 'qos/ratelimit/service',
  description: 'Limits the request rate of all endpoints together, in total and per client.',
  leaves: ['requests', 'data'],
  offers: [serviceLimits],
  independent: true,
  places: [
    atService(requestLimitSchema, (site) =>
      overService(requestLimit(site, site.config, { of: 'service' }), site.config),
    ),
  ],
});
