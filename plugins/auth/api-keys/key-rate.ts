import { type EndpointSite, HeaderBag, type Reply, refuse } from '#contract';
import { ClientBuckets } from '../../shared/buckets/client-buckets.ts';
import { batchOf, limitOf } from '../../shared/buckets/token-bucket.ts';

/** Idle time after which a key's count is removed, in milliseconds. */
const IDLE_MS = 600_000;
const SWEEP_MS = 60_000;

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
  const place = { method, endpoint };
  const clock = site.use('clock');
  const limit = limitOf(rate, 1000, Math.max(1, Math.ceil(rate)));
  const take = site.lease(place, {
    open: () => new ClientBuckets(),
    take: (keys, id) => keys.take(id, limit, IDLE_MS, clock.now()),
    takeMore: (keys, most, id) => keys.takeMore(id, most),
    giveBack: (keys, tokens, id) => keys.giveBack(id, limit, tokens),
    batch: batchOf(limit),
  });
  const keys = site.keep(place, () => new ClientBuckets());
  const sweeper = setInterval(() => keys.sweep(IDLE_MS, clock.now()), SWEEP_MS).unref();
  site.defer(() => clearInterval(sweeper));
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
