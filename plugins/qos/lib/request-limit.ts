import {
  anyCase,
  CallError,
  type ClientRequest,
  type DataObject,
  findNear,
  HeaderBag,
  type Infer,
  isHeaderName,
  type Reply,
  refuse,
  type Schema,
  type Site,
  timerMs,
} from '#contract';
import { ClientBuckets } from '../../services/buckets/client-buckets.ts';
import {
  batchOf,
  fullBucket,
  giveBack,
  type Limit,
  limitOf,
  take,
  takeMore,
} from '../../services/buckets/token-bucket.ts';
import { identifyBy, type Strategy, strategies } from './client-identity.ts';

/** A limit on requests: for everybody together, for each client, or both. */
export const requestLimitSchema = {
  type: 'object',
  title: 'Request limit',
  examples: [
    { max_rate: 500, client_max_rate: 10, strategy: 'ip', every: '1s' },
    { max_rate: 500 },
    { client_max_rate: 100, every: '1m', strategy: 'header', key: 'X-Api-Key' },
  ],
  properties: {
    max_rate: {
      type: 'number',
      minimum: 0,
      description:
        'Requests accepted in every period from all clients together; 0, which is the default, for no such limit.',
      examples: [500],
    },
    capacity: {
      type: 'integer',
      minimum: 0,
      description:
        'Largest burst of all clients together; 0 for the whole requests of one second, at least 1. Of several workers each takes a tenth of it at once, at most the requests of 100 ms.',
      default: 0,
    },
    client_max_rate: {
      type: 'number',
      minimum: 0,
      description: 'Requests accepted in every period from each client; 0, which is the default, for no such limit.',
      examples: [10],
    },
    client_capacity: {
      type: 'integer',
      minimum: 0,
      description:
        'Largest burst of one client; 0 for the whole requests of one second, at least 1. Workers take it as capacity.',
      default: 0,
    },
    every: { type: 'duration', description: 'Period of both rates, at least 1s.', default: '1s', examples: ['1m'] },
    strategy: {
      type: 'string',
      published: { pattern: anyCase(['', ...strategies]) },
      description: 'How clients are told apart: ip, header or param. Needed with client_max_rate.',
      examples: ['ip', 'header', 'param'],
    },
    key: {
      type: 'string',
      description:
        'Header name for header; placeholder name for param; for ip, optionally a header that carries the address.',
      default: '',
      examples: ['X-Api-Key'],
    },
    num_shards: {
      type: 'integer',
      minimum: 0,
      description: 'Without effect, accepted for compatibility.',
      default: 2048,
      deprecated: true,
    },
    cleanup_period: {
      type: 'duration',
      description: 'How often counters of idle clients are swept, at least 1s.',
      default: '1m',
      examples: ['5m'],
    },
    cleanup_threads: {
      type: 'integer',
      minimum: 0,
      description: 'Without effect, accepted for compatibility.',
      default: 1,
      deprecated: true,
    },
  },
} as const satisfies Schema;

export type RequestLimitConfig = Infer<typeof requestLimitSchema>;

/** A reply is a refusal: 429 for one client, 503 for all of them. A promise where workers share the count. */
export type Admitted = Reply | undefined | Promise<Reply | undefined>;

/** Counts a request. */
export type Admit = (request: ClientRequest) => Admitted;

const clientLimited = new CallError('RATELIMIT_CLIENT', 'rate limit exceded', { view: { status: 429, body: '' } });
const allLimited = new CallError('RATELIMIT_ALL', 'rate limit exceded', { view: { status: 503, body: '' } });

/** The two limits of a configuration; `admit` asks that of the client first. */
export interface RequestLimit {
  readonly admit: Admit;
  /** The limit of all clients alone; null where there is none. */
  readonly admitAll: (() => Admitted) | null;
}

/** A client not seen for this long, in milliseconds, is forgotten; with longer periods after the period. */
const IDLE_MS = 600_000;

/**
 * Builds a limit. Counters are kept over a reload by `place`, whatever the rates become; client counters also by what
 * tells the clients apart.
 * @param pointer of `config` below the site's own configuration.
 * @returns null when both rates are 0.
 * Warnings: RATELIMIT_UNUSED, RATELIMIT_OFF.
 * @throws ConfigError RATELIMIT_RATE, RATELIMIT_EVERY, RATELIMIT_STRATEGY or RATELIMIT_KEY.
 */
export function requestLimit(
  site: Site<unknown>,
  config: RequestLimitConfig,
  place: DataObject,
  pointer = '',
): RequestLimit | null {
  const { max_rate: rate, client_max_rate: clientRate, every, key } = config;
  if (rate === undefined && clientRate === undefined) {
    throw site.fault('RATELIMIT_RATE', pointer, 'neither max_rate nor client_max_rate is set');
  }
  if (every < 1000) {
    throw site.fault('RATELIMIT_EVERY', `${pointer}/every`, 'a period under 1s is not possible', {
      hint: 'write the rate for 1s',
    });
  }
  const strategy = strategyOf(site, config, pointer);
  warnOfUnused(site, config, pointer);
  const clock = site.use('clock');
  const { log } = site;

  const all = rate ? limitOf(rate, every, config.capacity) : null;
  const takeFromAll =
    all &&
    site.lease(
      { ...place, of: 'all' },
      {
        open: fullBucket,
        take: (bucket) => take(bucket, all, clock.now()),
        takeMore,
        giveBack: (bucket, tokens) => giveBack(bucket, all, tokens),
        batch: batchOf(all),
      },
    );
  if (all) log.debug(`[Ratelimit] Rate ${rate} every ${every}ms, capacity ${all.capacity}`);
  const admitAll = takeFromAll && (() => settle(takeFromAll(), all, 503, allLimited));

  const each = clientRate && strategy ? limitOf(clientRate, every, config.client_capacity) : null;
  if (!each || !strategy) return admitAll && { admit: admitAll, admitAll };
  const identify = identifyBy(strategy, key);
  const idleMs = every > IDLE_MS ? every * (1 + Math.random() / 4) : IDLE_MS;
  const takeFromClient = site.lease(
    { ...place, of: 'clients', strategy, key },
    {
      open: () => new ClientBuckets(),
      take: (clients, identity) => clients.take(identity, each, idleMs, clock.now()),
      takeMore: (clients, most, identity) => clients.takeMore(identity, most),
      giveBack: (clients, tokens, identity) => clients.giveBack(identity, each, tokens),
      batch: batchOf(each),
    },
  );
  sweep(site, { ...place, of: 'clients', strategy, key }, idleMs, config.cleanup_period);
  log.debug(`[Ratelimit] Client rate ${clientRate} every ${every}ms, capacity ${each.capacity}, by ${strategy} ${key}`);

  const admit: Admit = (request) => {
    const identity = identify(request);
    if (identity === '') return refuse(429, { error: clientLimited });
    const refusal = settle(takeFromClient(identity), each, 429, clientLimited);
    if (refusal instanceof Promise) return refusal.then((refused) => refused ?? admitAll?.());
    return refusal ?? admitAll?.();
  };
  return { admit, admitAll };
}

/** What is set and limits nothing, since the rate it belongs to is not set. */
function warnOfUnused(site: Site<unknown>, config: RequestLimitConfig, pointer: string): void {
  const { max_rate: rate, client_max_rate: clientRate, capacity, client_capacity: clientCapacity, strategy } = config;
  if (!rate && !clientRate) {
    site.warn('RATELIMIT_OFF', pointer, 'nothing is limited: a rate of 0 is no limit');
    return;
  }
  for (const [field, isUnused, needed] of [
    ['capacity', !rate && capacity > 0, 'max_rate'],
    ['client_capacity', !clientRate && clientCapacity > 0, 'client_max_rate'],
    ['strategy', !clientRate && strategy, 'client_max_rate'],
  ] as const) {
    if (isUnused) site.warn('RATELIMIT_UNUSED', `${pointer}/${field}`, `${field} has no effect without ${needed}`);
  }
}

/** Forgets idle clients from time to time. */
function sweep(site: Site<unknown>, key: DataObject, idleMs: number, periodMs: number): void {
  const clients = site.keep(key, () => new ClientBuckets());
  const clock = site.use('clock');
  const sweepMs = timerMs(Math.max(periodMs, 1000));
  const sweeper = setInterval(() => clients.sweep(idleMs, clock.now()), sweepMs).unref();
  site.defer(() => clearInterval(sweeper));
}

/** @param waitMs 0 when there was a token; a promise in a process that has to ask for it. */
function settle(waitMs: number | Promise<number>, limit: Limit, status: number, error: CallError): Admitted {
  return waitMs instanceof Promise
    ? waitMs.then((ms) => spend(ms, limit, status, error))
    : spend(waitMs, limit, status, error);
}

function spend(waitMs: number, limit: Limit, status: number, error: CallError): Reply | undefined {
  if (waitMs === 0) return undefined;
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1000)));
  const headers = new HeaderBag([
    'Retry-After',
    seconds,
    'RateLimit-Limit',
    String(limit.capacity),
    'RateLimit-Remaining',
    '0',
    'RateLimit-Reset',
    seconds,
  ]);
  return refuse(status, { headers, error });
}

/** @returns null when clients are not told apart. */
function strategyOf(site: Site<unknown>, config: RequestLimitConfig, pointer: string): Strategy | null {
  const written = config.strategy ?? '';
  const strategy = strategies.find((name) => name === written.toLowerCase());
  if (!strategy) {
    if (written !== '' || config.client_max_rate) {
      const message = written === '' ? 'client_max_rate needs a strategy' : `"${written}" is not a strategy`;
      const near = findNear(written, strategies);
      throw site.fault('RATELIMIT_STRATEGY', `${pointer}/strategy`, message, {
        hint: near ? `did you mean "${near.name}"?` : `write one of ${strategies.join(', ')}`,
        fix: near?.isSure ? { value: near.name } : undefined,
      });
    }
    return null;
  }
  const { key } = config;
  if (key === '' ? strategy !== 'ip' : strategy !== 'param' && !isHeaderName(key)) {
    const message = key === '' ? `the strategy ${strategy} needs a key` : `"${key}" is not a header name`;
    throw site.fault('RATELIMIT_KEY', `${pointer}/key`, message);
  }
  return strategy;
}
