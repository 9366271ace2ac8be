import type { ServiceRule } from './rule.ts';

const SHORTEST_MS = 1000;

/**
 * Discovered hosts are not looked up in a frenzy.
 *
 * Code: DNS_CACHE_TTL.
 */
export const dnsCacheTtl: ServiceRule = ({ dns_cache_ttl: pauseMs }, report) => {
  if (pauseMs >= SHORTEST_MS) return;
  report.error('DNS_CACHE_TTL', '/dns_cache_ttl', `'dns_cache_ttl' must be 1s or more, found ${pauseMs}ms`);
};
