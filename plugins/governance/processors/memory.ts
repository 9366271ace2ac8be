import type { Data, Site } from '#contract';
import type { RedisConnection } from '../../clients/redis/port.ts';

/** Maximum number of counters: one for each caller and window. Takes about 30 MB. */
export const MAX_COUNTERS = 100_000;

interface Counter {
  used: number;
  expiresAt: number;
}

/** Counters of uses. */
export type Counters = Pick<RedisConnection, 'name' | 'run'>;

/** Counts uses in the memory of the gateway, which all its workers share, as the script for Redis does. */
export function memoryCounters(site: Site<unknown>, quota: string): Counters {
  const count = site.share(
    ['memory', quota],
    () => new Map<string, Counter>(),
    (counters, question) => {
      const [keys, args] = question as unknown as readonly [readonly string[], readonly string[]];
      return countIn(counters, keys, args, Date.now());
    },
  );
  return { name: 'memory', run: async (_script, keys, args) => count([keys, args] as unknown as Data) };
}

/** Counts a use in memory, with the keys, arguments and result of the Redis script `countUse`. */
export function countIn(
  counters: Map<string, Counter>,
  keys: readonly string[],
  args: readonly string[],
  now: number,
): Data {
  const more = Number(args[1]);
  const kind = args[0];
  const used = keys.map((key) => usedOf(counters.get(key), now));
  const isFull = used.some((so, index) => {
    const limit = Number(args[2 * index + 2]);
    return (kind === 'take' && so + more > limit) || (kind === 'look' && so >= limit);
  });
  if (isFull) return [0, ...used.map(String)];
  const reserved = Number(args[2 * keys.length + 2] ?? 0);
  for (const [index, key] of keys.entries()) {
    const added = used[index]! >= reserved * (1 - 1e-9) ? more - reserved : more;
    if (added === 0) continue;
    used[index] = used[index]! + added;
    if (!counters.has(key)) makeRoom(counters, now);
    counters.set(key, { used: used[index]!, expiresAt: now + Number(args[2 * index + 3]) });
  }
  return [1, ...used.map(String)];
}

function usedOf(counter: Counter | undefined, now: number): number {
  return counter !== undefined && counter.expiresAt > now ? counter.used : 0;
}

/** Drops expired counters, or the oldest counter if none has expired. */
function makeRoom(counters: Map<string, Counter>, now: number): void {
  if (counters.size < MAX_COUNTERS) return;
  for (const [key, { expiresAt }] of counters) if (expiresAt <= now) counters.delete(key);
  const [oldest] = counters.keys();
  if (counters.size >= MAX_COUNTERS) counters.delete(oldest!);
}
