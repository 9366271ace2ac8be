import { hash } from 'node:crypto';
import { type Call, type DataObject, getKey, type Site } from '#contract';
import type { RedisConnection } from '../../clients/redis/port.ts';
import { RedisError } from '../../clients/redis/redis-error.ts';
import { defineScript } from '../../clients/redis/script.ts';
import { Undecided } from './undecided.ts';

/** Maximum number of nonces in memory. */
const MAX_NONCES = 100_000;

/** Identifies a nonce of a key. */
export function nonceName(source: string, keyId: string, nonce: string): string {
  return hash('sha256', JSON.stringify([source, keyId, nonce]), 'base64url');
}

/**
 * Returns whether a nonce is used for the first time, and remembers it until its signature is too old.
 * @throws Undecided if the store of nonces is full or unreachable.
 */
export type TakeNonce = (name: string, lifeMs: number, call: Call) => Promise<boolean>;

/** Nonces of one gateway, by name, with the time at which their signatures are too old. */
export class Nonces {
  readonly #until = new Map<string, number>();

  /** @returns null if the limit is reached. */
  take(name: string, lifeMs: number, now: number): boolean | null {
    this.#forget(now);
    const until = this.#until.get(name);
    if (until !== undefined && now < until) return false;
    // Nonces are never dropped early, because the requests with them could then be replayed.
    if (this.#until.size >= MAX_NONCES) return null;
    this.#until.delete(name);
    this.#until.set(name, now + lifeMs);
    return true;
  }

  /** Drops expired nonces. All nonces of an endpoint have the same lifetime, so the oldest ones are first. */
  #forget(now: number): void {
    for (const [name, until] of this.#until) {
      if (now < until) return;
      this.#until.delete(name);
    }
  }
}

/** Nonces in memory, which the workers of a gateway share. */
export function localNonces(site: Site<unknown>, source: string): TakeNonce {
  const clock = site.use('clock');
  const ask = site.share(
    ['nonces', source],
    () => new Nonces(),
    (nonces, question: DataObject): DataObject => {
      const name = String(getKey(question, 'name'));
      return { isFirst: nonces.take(name, Number(getKey(question, 'lifeMs')), clock.now()) };
    },
  );
  return async (name, lifeMs) => {
    const isFirst = getKey(await ask({ name, lifeMs }), 'isFirst');
    if (typeof isFirst === 'boolean') return isFirst;
    throw new Undecided(`${MAX_NONCES} nonces are in use`, false);
  };
}

const take = defineScript(`return redis.call('SET', KEYS[1], '1', 'PX', ARGV[1], 'NX')`);

/** Nonces in Redis, which several gateways share. */
export function redisNonces(redis: RedisConnection): TakeNonce {
  return async (name, lifeMs, call) => {
    try {
      return (await redis.run(take, [`sluice:nonce:${name}`], [String(Math.ceil(lifeMs))], call)) !== null;
    } catch (error) {
      if (!(error instanceof RedisError)) throw error;
      throw new Undecided(error.message, error.isOutage);
    }
  };
}
