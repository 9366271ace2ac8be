import type { Data, Site, TakeToken } from '#contract';
import { ClientBuckets } from './client-buckets.ts';
import { batchOf, type Limit } from './token-bucket.ts';

/** Settings of token buckets, one per client. */
export interface SharedBucketsOptions {
  readonly limit: Limit;
  /** Time after which the bucket of an absent client is dropped, in milliseconds. Default: 10 minutes. */
  readonly idleMs?: number;
  /** Interval at which such buckets are dropped, in milliseconds. Default: 1 minute. */
  readonly sweepMs?: number;
}

/**
 * Opens token buckets that all workers share and that outlive reloads.
 * @param place identifies the buckets in the plugin. @returns a function that takes a token of a client.
 */
export function sharedBuckets(
  site: Site<unknown>,
  place: Data,
  { limit, idleMs = 600_000, sweepMs = 60_000 }: SharedBucketsOptions,
): TakeToken {
  const clock = site.use('clock');
  const take = site.lease(place, {
    open: () => new ClientBuckets(),
    take: (clients, id) => clients.take(id, limit, idleMs, clock.now()),
    takeMore: (clients, most, id) => clients.takeMore(id, most),
    giveBack: (clients, tokens, id) => clients.giveBack(id, limit, tokens),
    batch: batchOf(limit),
  });
  const clients = site.keep(place, () => new ClientBuckets());
  const sweeper = setInterval(() => clients.sweep(idleMs, clock.now()), sweepMs).unref();
  site.defer(() => clearInterval(sweeper));
  return take;
}
