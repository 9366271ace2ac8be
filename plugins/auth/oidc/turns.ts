import { type Call, type DataObject, getKey, type Site } from '#contract';
import type { RedisConnection } from '../../clients/redis/port.ts';
import { defineScript } from '../../clients/redis/script.ts';

/**
 * Exclusive turns to use a refresh token, which many providers accept only once: the first process that claims a turn
 * refreshes the token, and the others receive its result.
 */
export interface Turns {
  /** Claims a turn. Returns `mine` if the caller must refresh, `taken` while another process refreshes, otherwise the result. */
  claim(key: string, call: Call): Promise<Turn>;
  /** Ends a turn with its result, which is kept for some time; null lets another process claim the turn. */
  settle(key: string, result: string | null, keptMs: number, call: Call): Promise<void>;
}

export type Turn = 'mine' | 'taken' | { readonly result: string };

/** Maximum number of turns; beyond it the oldest is dropped. */
const MAX_TURNS = 10_000;

interface Claimed {
  readonly result: string | null;
  readonly until: number;
}

/** Turns of the processes of one gateway. */
export class LocalTurns {
  readonly claimed = new Map<string, Claimed>();

  claim(key: string, holdMs: number): DataObject {
    const known = this.claimed.get(key);
    if (known && Date.now() < known.until) return known.result === null ? { turn: 'taken' } : { result: known.result };
    this.#set(key, { result: null, until: Date.now() + holdMs });
    return { turn: 'mine' };
  }

  settle(key: string, result: string, keptMs: number): DataObject {
    if (result === '') this.claimed.delete(key);
    else this.#set(key, { result, until: Date.now() + keptMs });
    return {};
  }

  #set(key: string, claimed: Claimed): void {
    this.claimed.delete(key);
    const [oldest] = this.claimed.keys();
    if (this.claimed.size >= MAX_TURNS && oldest !== undefined) this.claimed.delete(oldest);
    this.claimed.set(key, claimed);
  }
}

/** Shares turns among the processes of this gateway. @param holdMs time after which a turn without a result ends. */
export function localTurns(site: Site<unknown>, identity: string, holdMs: number): Turns {
  const ask = site.share(
    ['turns', identity],
    () => new LocalTurns(),
    (turns, question: DataObject): DataObject => {
      const key = String(getKey(question, 'key'));
      const result = getKey(question, 'result');
      if (typeof result !== 'string') return turns.claim(key, holdMs);
      return turns.settle(key, result, Number(getKey(question, 'keptMs')));
    },
  );
  return {
    async claim(key) {
      const answer = await ask({ key });
      const result = getKey(answer, 'result');
      if (typeof result === 'string') return { result };
      return getKey(answer, 'turn') === 'mine' ? 'mine' : 'taken';
    },
    async settle(key, result, keptMs) {
      await ask({ key, result: result ?? '', keptMs });
    },
  };
}

const claim = defineScript(`
local known = redis.call('GET', KEYS[1])
if known then return known end
redis.call('SET', KEYS[1], '', 'PX', ARGV[1])
return nil`);
const settle = defineScript(`
if ARGV[1] == '' then return redis.call('DEL', KEYS[1]) end
return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`);

/** Shares turns among all gateways with the same Redis. */
export function redisTurns(redis: RedisConnection, scope: string, holdMs: number): Turns {
  const nameOf = (key: string) => `sluice:oidc:${scope}:turn:${key}`;
  return {
    async claim(key, call) {
      const known = await redis.run(claim, [nameOf(key)], [String(holdMs)], call);
      if (typeof known !== 'string') return 'mine';
      return known === '' ? 'taken' : { result: known };
    },
    async settle(key, result, keptMs, call) {
      await redis.run(settle, [nameOf(key)], [result ?? '', String(keptMs)], call);
    },
  };
}
