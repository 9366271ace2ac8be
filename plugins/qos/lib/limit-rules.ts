import {
  anyCase,
  CallError,
  findNear,
  HeaderBag,
  isHeaderName,
  type Reply,
  refuse,
  type Schema,
  type Site,
} from '#contract';
import { type Limit, limitOf } from '../../shared/buckets/token-bucket.ts';
import {
  type Identify,
  IPV6_PREFIX,
  identifyBy,
  type Strategy,
  strategies,
} from '../../shared/callers/client-identity.ts';

/** Schema fields common to all request limits: for all clients together, for each client, or both. */
export const limitFields = {
  max_rate: {
    type: 'number',
    minimum: 0,
    description: 'Maximum number of requests per period from all clients. 0 disables the limit. Default: 0.',
    examples: [500],
  },
  capacity: {
    type: 'integer',
    minimum: 0,
    description:
      "Burst size for all clients together. 0 uses one second's worth of requests (at least 1). With several workers, each worker reserves requests in advance: at most a tenth of the burst size, and no more than the rate allows in 100 ms.",
    default: 0,
  },
  client_max_rate: {
    type: 'number',
    minimum: 0,
    description: 'Maximum number of requests per period and client. 0 disables the limit. Default: 0.',
    examples: [10],
  },
  client_capacity: {
    type: 'integer',
    minimum: 0,
    description: "Burst size per client. 0 uses one second's worth of requests (at least 1). Shared by all workers.",
    default: 0,
  },
  every: {
    type: 'duration',
    description: 'Period of max_rate and client_max_rate, at least 1s.',
    default: '1s',
    examples: ['1m'],
  },
  strategy: {
    type: 'string',
    published: { pattern: anyCase(['', ...strategies]) },
    description: 'Identification of clients by IP address, header or path parameter. Required with client_max_rate.',
    examples: ['ip', 'header', 'param'],
  },
  key: {
    type: 'string',
    description:
      'Name of the header that identifies clients with the strategy `header`, or of the path parameter with the strategy `param`. With the strategy `ip`, optionally a header that carries the IP address of the client.',
    default: '',
    examples: ['X-Api-Key'],
  },
  client_ipv6_prefix: {
    type: 'integer',
    minimum: 1,
    maximum: 128,
    description:
      'IPv6 prefix length. With the strategy ip, addresses that share this many leading bits count as one client, because a client can usually choose any address of its /64 network. 128 treats every address as a client.',
    default: IPV6_PREFIX,
    examples: [56],
  },
} as const satisfies Record<string, Schema>;

/** Configuration of a limit. */
export interface LimitConfig {
  readonly max_rate?: number;
  readonly capacity: number;
  readonly client_max_rate?: number;
  readonly client_capacity: number;
  /** Period of both rates, in milliseconds. */
  readonly every: number;
  readonly strategy?: string;
  readonly key: string;
  readonly client_ipv6_prefix: number;
}

/** Rules derived from a limit's configuration; null for a limit that is not set. */
export interface LimitRules {
  readonly all: Limit | null;
  readonly each: (Limit & { readonly strategy: Strategy; readonly identify: Identify }) | null;
}

export const clientLimited = new CallError('RATELIMIT_CLIENT', 'rate limit exceded', {
  view: { status: 429, body: '' },
});
export const allLimited = new CallError('RATELIMIT_ALL', 'rate limit exceded', { view: { status: 503, body: '' } });

/**
 * Reads a limit. Warnings: RATELIMIT_UNUSED, RATELIMIT_OFF.
 * @param pointer of `config` below the site's own configuration.
 * @returns null when both rates are 0.
 * @throws ConfigError RATELIMIT_RATE, RATELIMIT_EVERY, RATELIMIT_STRATEGY or RATELIMIT_KEY.
 */
export function readLimit(site: Site<unknown>, config: LimitConfig, pointer: string): LimitRules | null {
  const { max_rate: rate, client_max_rate: clientRate, every, key } = config;
  if (rate === undefined && clientRate === undefined) {
    throw site.fault('RATELIMIT_RATE', pointer, 'neither max_rate nor client_max_rate is set');
  }
  if (every < 1000) {
    throw site.fault('RATELIMIT_EVERY', `${pointer}/every`, 'the period must be at least 1s', {
      hint: 'set the rate for a period of 1s',
    });
  }
  const strategy = strategyOf(site, config, pointer);
  warnOfUnused(site, config, pointer);
  const { log } = site;
  const all = rate ? limitOf(rate, every, config.capacity) : null;
  if (all) log.debug(`[Ratelimit] Rate ${rate} every ${every}ms, capacity ${all.capacity}`);
  const limit = clientRate && strategy ? limitOf(clientRate, every, config.client_capacity) : null;
  if (!limit || !strategy) return all && { all, each: null };
  log.debug(
    `[Ratelimit] Client rate ${clientRate} every ${every}ms, capacity ${limit.capacity}, by ${strategy} ${key}`,
  );
  return { all, each: { ...limit, strategy, identify: identifyBy(strategy, key, config.client_ipv6_prefix) } };
}

/** Rejection of a request, with the time until the next token. @param waitMs time until then; 0 when the request is not rejected. */
export function refuseFor(waitMs: number, limit: Limit, error: CallError): Reply | undefined {
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
  return refuse(error.view.status!, { headers, error });
}

/** Warns of settings without effect because the rate they belong to is not set. */
function warnOfUnused(site: Site<unknown>, config: LimitConfig, pointer: string): void {
  const { max_rate: rate, client_max_rate: clientRate, capacity, client_capacity: clientCapacity, strategy } = config;
  if (!rate && !clientRate) {
    site.warn('RATELIMIT_OFF', pointer, 'no request is limited: a rate of 0 disables the limit');
    return;
  }
  for (const [field, isUnused, needed] of [
    ['capacity', !rate && capacity > 0, 'max_rate'],
    ['client_capacity', !clientRate && clientCapacity > 0, 'client_max_rate'],
    ['strategy', !clientRate && strategy, 'client_max_rate'],
    [
      'client_ipv6_prefix',
      config.client_ipv6_prefix !== IPV6_PREFIX && strategy?.toLowerCase() !== 'ip',
      'the strategy ip',
    ],
  ] as const) {
    if (isUnused) site.warn('RATELIMIT_UNUSED', `${pointer}/${field}`, `${field} has no effect without ${needed}`);
  }
}

/** @returns null without a limit per client. */
function strategyOf(site: Site<unknown>, config: LimitConfig, pointer: string): Strategy | null {
  const written = config.strategy ?? '';
  const strategy = strategies.find((name) => name === written.toLowerCase());
  if (!strategy) {
    if (written !== '' || config.client_max_rate) {
      const message = written === '' ? 'client_max_rate requires a strategy' : `"${written}" is not a valid strategy`;
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
    const message = key === '' ? `the strategy ${strategy} requires a key` : `"${key}" is not a valid header name`;
    throw site.fault('RATELIMIT_KEY', `${pointer}/key`, message);
  }
  return strategy;
}
