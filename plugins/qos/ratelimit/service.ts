import { atService, before, definePlugin, offer } from '#contract';
import { lacksParam } from '../../services/param-of-path.ts';
import { serviceLimits } from '../../services/service-limits.ts';
import { requestLimit, requestLimitSchema } from '../lib/request-limit.ts';

/**
 * Limits how many requests all endpoints together accept, before anything of an endpoint looks at them. Counters live in
 * memory, once for all workers; they survive a reload, also one that changes the limit, which then applies at once. A path
 * variable tells clients apart at the endpoints that have it; elsewhere the limit of a client does not apply. Files of
 * server/static-filesystem count, too.
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
