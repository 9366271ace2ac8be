import { createHash } from 'node:crypto';
import type Koa from 'koa';
import { Problem } from './problem.ts';

/** A stored response, which is returned again for the same idempotency key. */
interface Result {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface Entry {
  /** Fingerprint of the whole request, so that a key is not used for two different requests. */
  readonly print: string;
  /** Time at which the request arrived, on a monotonic clock, in milliseconds. */
  readonly since: number;
  readonly result: Promise<Result>;
}

const KEPT_MS = 600_000;
/** Maximum number of stored results; the oldest is dropped first. */
const MAX_RESULTS = 1000;
const MAX_KEY = 255;

/** Response headers that are part of a result. */
const reported = ['ETag', 'Location', 'Content-Type', 'Retry-After', 'Preference-Applied'];

/** Executes a request once, even when it is sent repeatedly. */
export interface Idempotency {
  /**
   * Responds with the result of the first request with the same `Idempotency-Key`, waiting for it while it runs. A
   * request that was not attempted, or failed because of an internal error, can be retried.
   * @param owner owner of the key.
   * @param respond runs the request; leaves its response, or its problem, in the context.
   * @throws Problem idempotency-key-reused when the key was used for another request; bad-request when it is too long.
   */
  once(ctx: Koa.Context, owner: string, body: Uint8Array | null, respond: () => Promise<void>): Promise<void>;
}

/** @param now milliseconds, monotonic. */
export function createIdempotency(now: () => number): Idempotency {
  const entries = new Map<string, Entry>();
  const forget = (): void => {
    for (const [key, { since }] of entries) {
      if (entries.size <= MAX_RESULTS && now() - since < KEPT_MS) return;
      entries.delete(key);
    }
  };
  return {
    async once(ctx, owner, body, respond) {
      const given = ctx.get('idempotency-key');
      if (given === '') return respond();
      if (given.length > MAX_KEY)
        throw new Problem('bad-request', `Idempotency-Key is longer than ${MAX_KEY} characters`);
      forget();
      const key = `${owner} ${given}`;
      const print = printOf(ctx, body);
      const known = entries.get(key);
      if (known) {
        if (known.print !== print)
          throw new Problem('idempotency-key-reused', 'Idempotency-Key was used for another request');
        replay(ctx, await known.result);
        return;
      }
      const { promise: result, resolve } = Promise.withResolvers<Result>();
      entries.set(key, { print, since: now(), result });
      await respond();
      const done = resultOf(ctx);
      if (done.status === 409 || done.status >= 500) entries.delete(key);
      resolve(done);
    },
  };
}

function printOf(ctx: Koa.Context, body: Uint8Array | null): string {
  const print = createHash('sha256').update(`${ctx.method} ${ctx.originalUrl}\n${ctx.get('if-match')}\n`);
  return print.update(body ?? '').digest('hex');
}

function resultOf(ctx: Koa.Context): Result {
  const { status, body } = ctx;
  const headers = reported
    .map((name) => [name, String(ctx.response.get(name) ?? '')])
    .filter(([, value]) => value !== '');
  return { status, body, headers: Object.fromEntries(headers) };
}

function replay(ctx: Koa.Context, { status, headers, body }: Result): void {
  ctx.status = status;
  if (body !== undefined) ctx.body = body;
  ctx.set({ ...headers, 'Idempotent-Replayed': 'true' });
}
