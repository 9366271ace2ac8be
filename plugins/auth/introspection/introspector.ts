import { type Call, definePort, type Port, type Site } from '#contract';
import { SharedWork } from '../../shared/calls/shared-work.ts';
import { TokenCache } from '../validator/token-cache.ts';
import type { Answer } from './answer.ts';
import type { ServerConfig } from './schema.ts';
import { introspectionServer } from './server.ts';

/** Determines whether tokens are active, from its cache or by a request to the authorization server. */
export interface Introspector {
  /** Returns the cached response, while it is valid. @param name cache key of the token. */
  known(name: string): Answer | undefined;
  /** Sends a request to the server; concurrent calls share one request. @throws Undecided, or the call's abort reason. */
  ask(name: string, token: string, call: Call): Promise<Answer>;
}

/** The authorization server of the service. */
export const introspectors: Port<Introspector> = definePort('introspection');

/** Cached responses of one server to one client of it, by token. Inactive tokens are stored separately, so that invalid tokens do not displace active ones. */
class Answers {
  readonly active = new TokenCache<Answer>();
  readonly inactive = new TokenCache<Answer>();
  readonly pending = new SharedWork<Answer>();
}

const CACHE_MS = 30_000;
const NEGATIVE_CACHE_MS = 5000;

/** @throws ConfigError `INTROSPECTION_CACHE`, and errors for unusable settings of the server. */
export function openIntrospector(site: Site<unknown>, config: ServerConfig): Introspector {
  const server = introspectionServer(site, config);
  const ttl = config.cache_ttl ?? CACHE_MS;
  const negativeTtl = config.negative_cache_ttl ?? Math.min(NEGATIVE_CACHE_MS, ttl);
  if (negativeTtl > ttl) {
    throw site.fault('INTROSPECTION_CACHE', '/negative_cache_ttl', 'negative_cache_ttl is longer than cache_ttl');
  }
  const answers = site.keep(['answers', server.identity], () => new Answers());
  const clock = site.use('clock');
  return {
    known(name) {
      const answer = latest(answers.active.get(name), answers.inactive.get(name));
      if (!answer) return undefined;
      const age = clock.now() - answer.requestedAt;
      const isFresh = answer.claims ? age < ttl && Date.now() / 1000 < answer.times.expires : age < negativeTtl;
      return isFresh ? answer : undefined;
    },
    ask: (name, token, call) =>
      answers.pending.join(name, call, async (signal) => {
        const answer = await server.ask(token, signal);
        if (ttl > 0) (answer.claims ? answers.active : answers.inactive).set(name, answer);
        return answer;
      }),
  };
}

function latest(one: Answer | undefined, other: Answer | undefined): Answer | undefined {
  if (!one || !other) return one ?? other;
  return one.requestedAt >= other.requestedAt ? one : other;
}
