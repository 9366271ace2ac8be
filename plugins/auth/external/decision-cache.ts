import { hash } from 'node:crypto';
import type { Call, ClientRequest, Site } from '#contract';
import { SharedWork } from '../../shared/calls/shared-work.ts';
import { TokenCache } from '../validator/token-cache.ts';
import type { Accepted, Decide } from './decision.ts';
import type { ExternalConfig } from './schema.ts';

interface Kept {
  readonly decision: Accepted;
  readonly decidedAt: number;
  readonly length: number;
}

/** Accepting decisions of one server, by the hash of the request that they were made for. */
class Decisions {
  readonly kept = new TokenCache<Kept>();
  readonly pending = new SharedWork<Awaited<ReturnType<Decide>>>();
}

/** Caches decisions, and lets concurrent requests with the same key share one. */
export interface DecisionCache {
  keyOf(request: ClientRequest): string;
  known(key: string): Accepted | undefined;
  /** Returns the decision for all requests with the same key. */
  share(key: string, call: Call, decide: (signal: AbortSignal) => ReturnType<Decide>): ReturnType<Decide>;
}

/** Creates the cache of a component; null if it is disabled. */
export function decisionCache(site: Site<ExternalConfig>): DecisionCache | null {
  const { cache_ttl: ttl, cache_headers: names, on_failure_allow: _, on_failure_status: __, ...rest } = site.config;
  if (ttl === 0) return null;
  const identity = hash('sha256', JSON.stringify([names, rest]), 'base64');
  const decisions = site.keep(['decisions', identity], () => new Decisions());
  const clock = site.use('clock');
  const lower = names.map((name) => name.toLowerCase());
  return {
    keyOf({ method, host, path, search, secure, ip, headers }) {
      const values = lower.map((name) => headers.getAll(name));
      return hash('sha256', JSON.stringify([method, host, path, search, secure, ip, values]), 'binary');
    },
    known(key) {
      const kept = decisions.kept.get(key);
      const age = kept ? clock.now() - kept.decidedAt : 0;
      return kept && age < Math.min(ttl, kept.decision.cacheableMs) ? kept.decision : undefined;
    },
    share: (key, call, decide) =>
      decisions.pending.join(key, call, async (signal) => {
        const decidedAt = clock.now();
        const decision = await decide(signal);
        if (decision.accepted && decision.cacheableMs > 0) {
          decisions.kept.set(key, { decision, decidedAt, length: sizeOf(decision) });
        }
        return decision;
      }),
  };
}

function sizeOf({ request, response }: Accepted): number {
  return [...request, ...response].reduce((size, { name, value }) => size + name.length + value.length, 100);
}
