import { atService, before, definePlugin, offer } from '#contract';
import { lacksParam } from '../../shared/parameters/declared.ts';
import { serviceLimits } from '../../shared/ports/service-limits.ts';
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
    atService(requestLimitSchema, (site) => {
      const limit = requestLimit(site, site.config, { of: 'service' });
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
