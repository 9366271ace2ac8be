import {
  atBackend,
  BackendError,
  type BackendSite,
  before,
  type DataObject,
  definePlugin,
  type Infer,
  Reply,
  type Schema,
} from '#contract';
import {
  availableIn,
  batchOf,
  fullBucket,
  giveBack,
  limitOf,
  take,
  takeMore,
} from '../../shared/buckets/token-bucket.ts';
import { placeOf } from '../lib/backend-place.ts';

const schema = {
  type: 'object',
  title: 'Limit on the calls to a backend',
  examples: [
    { max_rate: 100, capacity: 20 },
    { max_rate: 0.5, capacity: 1, every: '1m' },
  ],
  required: ['max_rate', 'capacity'],
  properties: {
    max_rate: {
      type: 'number',
      minimum: 0,
      description: 'Maximum number of backend calls per period, for example 0.5. 0 disables the limit.',
      examples: [100],
    },
    capacity: {
      type: 'integer',
      minimum: 0,
      description:
        "Burst size. 0 uses one second's worth of calls (at least 1). With several workers, each worker reserves up to a tenth of the burst size at a time, at most the number of calls that the rate allows in 100 ms.",
      examples: [20],
    },
    every: {
      type: 'duration',
      description: 'Period of the rate. Must be greater than 0; can be shorter than a second.',
      default: '1s',
      examples: ['1m'],
    },
  },
} as const satisfies Schema;

/** Shared error for all rejected calls: creating one costs more than rejecting. It sets no status code for the client. */
const limited = new BackendError('RATELIMIT_BACKEND', 'rate limit exceded');

/**
 * Limits the rate of calls to one backend, across all workers. A call over the limit fails immediately, like a failure
 * of the backend itself, instead of waiting. The bucket belongs to the backend object of the configuration and survives
 * reloads, including those that change the limit, which then applies immediately.
 */
export const plugin = definePlugin({
  name: 'qos/ratelimit/proxy',
  description: 'Limits the rate of calls to a backend.',
  oldFields: { maxRate: 'max_rate' },
  leaves: ['requests', 'data'],
  places: [
    atBackend(schema, (site) => {
      const admitted = admission(site);
      if (!admitted) return {};
      const { takeToken, state } = admitted;
      const settle = (waitMs: number) => (waitMs === 0 ? undefined : Reply.failed(limited));
      return {
        backend: before(() => {
          const waitMs = takeToken();
          return waitMs instanceof Promise ? waitMs.then(settle) : settle(waitMs);
        }),
        state,
      };
    }),
  ],
});

/** The limit of a backend. */
interface Admission {
  /** Takes a token for a call: 0 when one was available. */
  readonly takeToken: () => number | Promise<number>;
  readonly state: () => DataObject | null;
}

/**
 * Opens the limit of a backend. Warnings: RATELIMIT_OFF.
 * @returns null without a limit.
 * @throws ConfigError RATELIMIT_EVERY.
 */
function admission(site: BackendSite<Infer<typeof schema>>): Admission | null {
  const { max_rate: rate, capacity, every } = site.config;
  if (every <= 0) {
    throw site.fault('RATELIMIT_EVERY', '/every', '"every" must be greater than 0', { hint: '"every": "1s"' });
  }
  if (rate === 0) {
    site.warn('RATELIMIT_OFF', '', 'no call is limited: a rate of 0 disables the limit');
    return null;
  }
  const limit = limitOf(rate, every, capacity);
  const clock = site.use('clock');
  const takeToken = site.lease(placeOf(site), {
    open: fullBucket,
    take: (bucket) => take(bucket, limit, clock.now()),
    takeMore,
    giveBack: (bucket, tokens) => giveBack(bucket, limit, tokens),
    batch: batchOf(limit),
  });
  site.log.debug(`[Ratelimit] Rate limit of the backend: ${rate} every ${every}ms, capacity ${limit.capacity}`);
  // The bucket is in the process that owns it.
  const bucket = site.role === 'worker' ? null : site.keep(placeOf(site), fullBucket);
  const state = () => bucket && { availableCalls: availableIn(bucket, limit, clock.now()), burstCalls: limit.capacity };
  return { takeToken, state };
}
