import { atEndpoint, before, definePlugin } from '#contract';
import { refuseUnknownParam } from '../../shared/parameters/declared.ts';
import { requestLimit, requestLimitSchema } from '../lib/request-limit.ts';

/**
 * Limits the rate of requests to one endpoint. Counters are in memory, shared by all workers, and belong to the
 * endpoint's method and path: they survive reloads, including those that change the limit, which then applies
 * immediately.
 */
export const plugin = definePlugin({
  name: 'qos/ratelimit/router',
  description: 'Limits the request rate of an endpoint, in total and per client.',
  oldFields: { maxRate: 'max_rate', clientMaxRate: 'client_max_rate' },
  leaves: ['requests', 'data'],
  places: [
    atEndpoint(requestLimitSchema, (site) => {
      refuseUnknownParam(site, site.config);
      const { method, endpoint } = site.endpoint;
      const limit = requestLimit(site, site.config, { method, endpoint });
      return limit ? { endpoint: before(limit.admit), ...(limit.state && { state: limit.state }) } : {};
    }),
  ],
});
