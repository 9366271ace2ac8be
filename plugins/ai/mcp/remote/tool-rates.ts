import type { ClientRequest, Site } from '#contract';
import { sharedBuckets } from '../../../shared/buckets/shared-buckets.ts';
import { limitOf } from '../../../shared/buckets/token-bucket.ts';
import { identifyBy } from '../../../shared/callers/client-identity.ts';
import { matcherOf } from './name-pattern.ts';
import type { UpstreamConfig } from './schema.ts';

/** Counts a tool call. @returns 0 for a call that may be made, otherwise the milliseconds until the next call may be made. */
export type CountCall = (tool: string, client: ClientRequest) => number | Promise<number>;

/** Time after which an unused bucket is dropped, in milliseconds, unless it takes longer to fill. */
const IDLE_MS = 600_000;

/**
 * Compiles the rate limits of an upstream server: each tool has buckets of its own, which all workers share and which outlive
 * reloads.
 * @throws ConfigError MCP_RATE. @param at relative pointer of the server.
 */
export function toolRates(
  site: Site<unknown>,
  { name, url, rate_limits: rules }: UpstreamConfig,
  at: string,
): CountCall {
  const counted = rules.map((rule, index) => {
    const pointer = `${at}/rate_limits/${index}`;
    const { max_rate: rate, client_max_rate: clientRate, every, strategy, key, tools } = rule;
    if (rate === undefined && clientRate === undefined) {
      throw site.fault('MCP_RATE', pointer, 'a rate limit requires max_rate or client_max_rate');
    }
    if (every < 1000) throw site.fault('MCP_RATE', `${pointer}/every`, 'the period must be at least 1s');
    if (strategy !== 'ip' && key === '') {
      throw site.fault('MCP_RATE', `${pointer}/key`, `the strategy ${strategy} requires a key`);
    }
    const take = (most: number | undefined, ...whose: readonly string[]) => {
      if (most === undefined) return null;
      const limit = limitOf(most, every, Math.ceil(most));
      const idleMs = Math.max(IDLE_MS, limit.capacity * limit.refillMs);
      return sharedBuckets(site, ['rate', url, name, [...tools], ...whose], { limit, idleMs });
    };
    return {
      applies: matcherOf(tools),
      identify: identifyBy(strategy, key),
      all: take(rate, 'all'),
      each: take(clientRate, strategy, key),
    };
  });
  return (tool, client) => {
    const takes: (() => number | Promise<number>)[] = [];
    for (const { applies, all, each, identify } of counted) {
      if (!applies(tool)) continue;
      // The limit per caller is checked first, so that a rejected caller consumes nothing of the limit for all callers.
      if (each) takes.push(() => each(JSON.stringify([tool, identify(client)])));
      if (all) takes.push(() => all(tool));
    }
    return takes.length === 0 ? 0 : inOrder(takes);
  };
}

async function inOrder(takes: readonly (() => number | Promise<number>)[]): Promise<number> {
  for (const take of takes) {
    const waitMs = await take();
    if (waitMs > 0) return waitMs;
  }
  return 0;
}
