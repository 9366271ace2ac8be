import { hash, randomBytes } from 'node:crypto';
import { type Call, getKey } from '#contract';
import type { RedisConnection } from '../../clients/redis/port.ts';
import { defineScript } from '../../clients/redis/script.ts';
import { type Session, subjectOf } from './session.ts';
import type { SessionSeal, Sessions } from './sessions.ts';

/** Form of a session ID: 256 random bits in base64url. */
const ID = /^[\w-]{43}$/;

/** Maximum number of sessions that a back-channel logout of one user or provider session ends; only the latest are indexed. */
const MAX_INDEXED = 1000;

const read = defineScript(`return redis.call('GET', KEYS[1])`);
const touch = defineScript(`
local session = redis.call('GET', KEYS[1])
if session then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return session`);
const write = defineScript(`return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`);
const rewrite = defineScript(`return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'XX')`);
const remove = defineScript(`return redis.call('DEL', KEYS[1])`);
const index = defineScript(`
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[5]))
return redis.call('PEXPIRE', KEYS[1], ARGV[4])`);
const indexed = defineScript(`return redis.call('ZRANGE', KEYS[1], 0, -1)`);
const unindex = defineScript(`return redis.call('ZREM', KEYS[1], ARGV[1])`);
const once = defineScript(`return redis.call('SET', KEYS[1], '1', 'PX', ARGV[1], 'NX')`);

/** Maximum duration of a session, and maximum time between two of its requests, in milliseconds; null disables the second limit. */
interface Lifetime {
  readonly maxAgeMs: number;
  readonly idleMs: number | null;
}

/** Sessions in Redis. Keys are hashes and values are encrypted, so that read access to Redis does not allow using a session. */
export class RedisSessions implements Sessions {
  readonly #redis: RedisConnection;
  readonly #seal: SessionSeal;
  readonly #prefix: string;
  readonly #maxAgeMs: number;
  readonly #idleMs: number | null;

  constructor(redis: RedisConnection, seal: SessionSeal, scope: string, { maxAgeMs, idleMs }: Lifetime) {
    this.#redis = redis;
    this.#seal = seal;
    this.#prefix = `sluice:oidc:${scope}:`;
    this.#maxAgeMs = maxAgeMs;
    this.#idleMs = idleMs;
  }

  async find(handle: string, call: Call): Promise<Session | null> {
    if (!ID.test(handle)) return null;
    const keys = [this.#key('session', handle)];
    const idle = this.#idleMs;
    const sealed = await (idle === null
      ? this.#redis.run(read, keys, [], call)
      : this.#redis.run(touch, keys, [String(idle)], call));
    return typeof sealed === 'string' ? this.#seal.open(sealed) : null;
  }

  async create(session: Session, sealed: string, call: Call): Promise<string> {
    const handle = randomBytes(32).toString('base64url');
    const key = this.#key('session', handle);
    const left = String(this.#leftMs(session));
    // The indexes are written first, so that a session that exists can always be ended.
    const now = Date.now();
    for (const at of this.#indexesOf(session)) {
      const times = [String(now + this.#maxAgeMs), String(now), String(this.#maxAgeMs)];
      await this.#redis.run(index, [at], [key, ...times, String(MAX_INDEXED)], call);
    }
    await this.#redis.run(write, [key], [sealed, left], call);
    return handle;
  }

  async replace(handle: string, sealed: string, session: Session, call: Call): Promise<void> {
    await this.#redis.run(rewrite, [this.#key('session', handle)], [sealed, String(this.#leftMs(session))], call);
  }

  handleOf(handle: string): string {
    return handle;
  }

  async delete(handle: string, call: Call): Promise<void> {
    if (ID.test(handle)) await this.#redis.run(remove, [this.#key('session', handle)], [], call);
  }

  /**
   * Ends all sessions that belong to a session at the provider, or all sessions of a user. Each session leaves the
   * index after it has ended, so that the remaining ones are found again after a failure.
   */
  async deleteAll(kind: 'sid' | 'sub', value: string, call: Call): Promise<void> {
    const at = this.#key(kind, value);
    const keys = await this.#redis.run(indexed, [at], [], call);
    if (!Array.isArray(keys)) return;
    for (const key of keys) {
      await this.#redis.run(remove, [String(key)], [], call);
      await this.#redis.run(unindex, [at], [String(key)], call);
    }
  }

  async isFirst(value: string, periodMs: number, call: Call): Promise<boolean> {
    return (await this.#redis.run(once, [this.#key('once', value)], [String(periodMs)], call)) !== null;
  }

  async forget(value: string, call: Call): Promise<void> {
    await this.#redis.run(remove, [this.#key('once', value)], [], call);
  }

  #indexesOf(session: Session): string[] {
    const sid = getKey(session.claims, 'sid');
    const ofUser = this.#key('sub', subjectOf(session));
    return typeof sid === 'string' ? [ofUser, this.#key('sid', sid)] : [ofUser];
  }

  #leftMs({ startedAt }: Session): number {
    const leftMs = Math.max(Math.ceil(startedAt * 1000 + this.#maxAgeMs - Date.now()), 1);
    return Math.min(leftMs, this.#idleMs ?? leftMs);
  }

  #key(kind: string, value: string): string {
    return `${this.#prefix}${kind}:${hash('sha256', value, 'base64url')}`;
  }
}
