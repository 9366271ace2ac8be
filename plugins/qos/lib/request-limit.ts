import {
  type Call,
  type CallError,
  type ClientRequest,
  type DataObject,
  type Infer,
  type Reply,
  refuse,
  type Schema,
  type Site,
  timerMs,
} from '#contract';
import { ClientBuckets } from '../../shared/buckets/client-buckets.ts';
import { sharedBuckets } from '../../shared/buckets/shared-buckets.ts';
import {
  availableIn,
  batchOf,
  fullBucket,
  giveBack,
  type Limit,
  take,
  takeMore,
} from '../../shared/buckets/token-bucket.ts';
import { allLimited, clientLimited, limitFields, readLimit, refuseFor } from './limit-rules.ts';

/** Schema of a limit whose counters are in memory. */
export const requestLimitSchema = {
  type: 'object',
  title: 'Request limit',
  examples: [
    { max_rate: 500, client_max_rate: 10, strategy: 'ip', every: '1s' },
    { max_rate: 500 },
    { client_max_rate: 100, every: '1m', strategy: 'header', key: 'X-Api-Key' },
  ],
  properties: {
    ...limitFields,
    num_shards: {
      type: 'integer',
      minimum: 0,
      description: 'Number of maps that contain the counters.',
      unused: { because: 'the gateway uses a single map' },
    },
    cleanup_period: {
      type: 'duration',
      description: 'Interval at which counters of idle clients are removed, at least 1s.',
      default: '1m',
      examples: ['5m'],
    },
    cleanup_threads: {
      type: 'integer',
      minimum: 0,
      description: 'Number of threads that remove counters of idle clients.',
      unused: { because: 'the gateway removes counters in a single thread' },
    },
  },
} as const satisfies Schema;

export type RequestLimitConfig = Infer<typeof requestLimitSchema>;

/** Result of a limit; a reply is a rejection: 429 for the limit per client, 503 for the limit of all clients. A promise when workers share the counter. */
export type Admitted = Reply | undefined | Promise<Reply | undefined>;

/** Counts a request. */
export type Admit = (request: ClientRequest, call: Call) => Admitted;

/** The two limits of a configuration; `admit` checks the client's limit first. */
export interface RequestLimit {
  readonly admit: Admit;
  /** Counts a request only against the limit of all clients; null if that limit is not set. */
  readonly admitAll: Admit | null;
  /** State of the counters, see `AttachmentTraits.state`; undefined if they are not in the gateway. */
  readonly state?: () => DataObject | null;
}

/** Idle time after which a client is forgotten, in milliseconds. Limits with a longer period use their period instead. */
const IDLE_MS = 600_000;

/**
 * Builds a limit. Counters survive reloads, keyed by `place`, even when the rates change; client counters are also
 * keyed by the client strategy.
 * @param pointer of `config` below the site's own configuration.
 * @returns null when both rates are 0. Warnings: RATELIMIT_UNUSED, RATELIMIT_OFF.
 * @throws ConfigError RATELIMIT_RATE, RATELIMIT_EVERY, RATELIMIT_STRATEGY or RATELIMIT_KEY.
 */
export function requestLimit(
  site: Site<unknown>,
  config: RequestLimitConfig,
  place: DataObject,
  pointer = '',
): RequestLimit | null {
  const rules = readLimit(site, config, pointer);
  if (!rules) return null;
  const { all, each } = rules;
  const { every, key } = config;
  const clock = site.use('clock');
  const keyOfAll = { ...place, of: 'all' };
  const takeFromAll =
    all &&
    site.lease(keyOfAll, {
      open: fullBucket,
      take: (bucket) => take(bucket, all, clock.now()),
      takeMore,
      giveBack: (bucket, tokens) => giveBack(bucket, all, tokens),
      batch: batchOf(all),
    });
  const admitAll = takeFromAll && (() => settle(takeFromAll(), all, allLimited));

  // The counters are in the process that owns them.
  const isOwner = site.role !== 'worker';
  const bucket = all && isOwner ? site.keep(keyOfAll, fullBucket) : null;
  const stateOfAll = (): DataObject =>
    bucket && all ? { availableRequests: availableIn(bucket, all, clock.now()), burstRequests: all.capacity } : {};
  if (!each) return admitAll && { admit: admitAll, admitAll, state: () => (isOwner ? stateOfAll() : null) };
  const { strategy, identify } = each;
  const idleMs = every > IDLE_MS ? every * (1 + Math.random() / 4) : IDLE_MS;
  const sweepMs = timerMs(Math.max(config.cleanup_period, 1000));
  const keyOfClients = { ...place, of: 'clients', strategy, key };
  const takeFromClient = sharedBuckets(site, keyOfClients, { limit: each, idleMs, sweepMs });
  const clients = isOwner ? site.keep(keyOfClients, () => new ClientBuckets()) : null;
  const state = () => clients && { ...stateOfAll(), trackedClients: clients.size, clientBurstRequests: each.capacity };

  const admit: Admit = (request) => {
    const identity = identify(request);
    if (identity === '') return refuse(429, { error: clientLimited });
    const refusal = settle(takeFromClient(identity), each, clientLimited);
    if (refusal instanceof Promise) return refusal.then((refused) => refused ?? admitAll?.());
    return refusal ?? admitAll?.();
  };
  return { admit, admitAll, state };
}

/** @param waitMs 0 when a token was available; a promise in a process that must request it from another one. */
function settle(waitMs: number | Promise<number>, limit: Limit, error: CallError): Admitted {
  return waitMs instanceof Promise ? waitMs.then((ms) => refuseFor(ms, limit, error)) : refuseFor(waitMs, limit, error);
}
