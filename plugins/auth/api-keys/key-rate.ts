import { type EndpointSite, HeaderBag, type Reply, refuse } from '#contract';
import { sharedBuckets } from '../../shared/buckets/shared-buckets.ts';
import { limitOf } from '../../shared/buckets/token-bucket.ts';

/**
 * Counts a request against a key.
 * @returns the 429 reply if the limit is exceeded, otherwise undefined; a promise if workers share the count.
 */
export type AdmitKey = (id: string) => Reply | undefined | Promise<Reply | undefined>;

/**
 * Limits the request rate of each key at an endpoint, across all workers. Counts survive reloads.
 * @param rate requests per second; must be greater than 0.
 */
export function keyRate(site: EndpointSite<unknown>, rate: number): AdmitKey {
  const { method, endpoint } = site.endpoint;
  const limit = limitOf(rate, 1000, Math.max(1, Math.ceil(rate)));
  const take = sharedBuckets(site, { method, endpoint }, { limit });
  return (id) => {
    const waitMs = take(id);
    return waitMs instanceof Promise ? waitMs.then(settle) : settle(waitMs);
  };
}

function settle(waitMs: number): Reply | undefined {
  if (waitMs === 0) return undefined;
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1000)));
  return refuse(429, { headers: new HeaderBag(['Retry-After', seconds]) });
}
