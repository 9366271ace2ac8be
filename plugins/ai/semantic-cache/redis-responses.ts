import type { Call, Site } from '#contract';
import type { RedisConnection } from '../../clients/redis/port.ts';
import { defineScript } from '../../clients/redis/script.ts';
import { underOwnCall } from '../../shared/calls/own-call.ts';
import { redisVectorLists } from './redis-vector-lists.ts';
import { vectorSets } from './redis-vector-sets.ts';
import type { Responses } from './responses.ts';

/** Maximum time for storing a response, in milliseconds. */
const KEEP_MS = 2000;

const get = defineScript(`return redis.call('GET', KEYS[1])`);

/**
 * Responses in Redis, for several gateways together. The Redis server compares vectors if it has vector sets; otherwise
 * this process compares them. A response is read by variant and text, so that a wrong result of a search cannot be a
 * response of another variant.
 */
export function inRedis(site: Site<unknown>, connection: RedisConnection): Responses {
  const sets = vectorSets(connection, site.use('clock'));
  const lists = redisVectorLists(site, connection);
  const closing = new AbortController();
  site.defer(() => closing.abort());
  const keyOf = (variant: string) => `sluice:semantic:{${variant}}`;
  const responseOf = async (key: string, text: string, call: Call): Promise<string | null> => {
    const response = await connection.run(get, [`${key}:${text}`], [], call);
    return typeof response === 'string' ? response : null;
  };
  return {
    same: ({ variant, text }, call) => responseOf(keyOf(variant), text, call),
    async near({ variant }, vector, distance, call) {
      const key = keyOf(variant);
      const texts = (await sets.near(key, vector, distance, call)) ?? (await lists.near(key, vector, distance, call));
      for (const text of texts) {
        const response = await responseOf(key, text, call);
        if (response !== null) return response;
        lists.drop(key, text);
      }
      return null;
    },
    keep: ({ variant, text }, vector, response, ttlMs) =>
      underOwnCall(site.log, KEEP_MS, closing.signal, async (call) => {
        const key = keyOf(variant);
        const kept = { text, vector, response, ttlMs: Math.max(1, Math.round(ttlMs)) };
        return (await sets.keep(key, kept, call)) ?? (await lists.keep(key, kept, call));
      }),
  };
}
