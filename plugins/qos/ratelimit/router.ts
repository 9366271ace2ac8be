import { atEndpoint, before, definePlugin, type EndpointSite, findNear, paramKey } from '#contract';
import { type RequestLimitConfig, requestLimit, requestLimitSchema } from '../lib/request-limit.ts';

/**
 * Limits how many requests one endpoint accepts. Counters live in memory, once for all workers, and belong to the endpoint's method and
 * path: they survive a reload, also one that changes the limit, which then applies at once.
 */
export const plugin = definePlugin({
  name: 'qos/ratelimit/router',
  description: 'Limits how many requests an endpoint accepts from all clients together and from each of them.',
  oldFields: { maxRate: 'max_rate', clientMaxRate: 'client_max_rate' },
  leaves: ['requests', 'data'],
  places: [
    atEndpoint(requestLimitSchema, (site) => {
      refuseUnknownParam(site);
      const { method, endpoint } = site.endpoint;
      const admit = requestLimit(site, site.config, { method, endpoint });
      return admit ? { endpoint: before(admit) } : {};
    }),
  ],
});

/** A path variable the endpoint does not have would refuse every request. */
function refuseUnknownParam(site: EndpointSite<RequestLimitConfig>): void {
  const { strategy, key } = site.config;
  if (strategy?.toLowerCase() !== 'param' || key === '') return;
  const path = site.endpoint.endpoint;
  const known = path.includes(`{${key}}`) || (path.endsWith('/*') && paramKey(key) === 'Wildcard');
  if (known) return;
  const near = findNear(
    key,
    Array.from(path.matchAll(/\{([^{}]+)\}/g), ([, name]) => name!),
  );
  throw site.fault('RATELIMIT_KEY', '/key', `the endpoint has no placeholder {${key}}`, {
    hint: near && `did you mean "${near.name}"?`,
    fix: near?.isSure ? { value: near.name } : undefined,
  });
}
