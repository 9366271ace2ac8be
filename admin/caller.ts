import type Koa from 'koa';
import type { AdminScope } from '#contract';
import { type Reach, socketAddress } from '#kernel';
import { Problem } from './problem.ts';

/** Who sent a request, by the token it came with. */
export interface Caller {
  /** Id of the token. */
  readonly id: string;
  readonly scopes: readonly AdminScope[];
}

/** Looks up the caller of a token again; null after the token was revoked. */
type FindAgain = () => Promise<Caller | null>;

const callers = new WeakMap<Koa.Context, Caller>();
const finders = new WeakMap<Koa.Context, FindAgain>();

/** Remembers who sent a request. A token that may apply a configuration may check one. */
export function setCaller(ctx: Koa.Context, caller: Caller, findAgain: FindAgain): void {
  const { id, scopes } = caller;
  callers.set(ctx, { id, scopes: scopes.includes('write') ? [...scopes, 'check'] : scopes });
  finders.set(ctx, findAgain);
}

/** Null where no token was asked for. */
export function callerOf(ctx: Koa.Context): Caller | null {
  return callers.get(ctx) ?? null;
}

/** @throws Problem insufficient-scope when the token does not allow it. */
export function demandScope(ctx: Koa.Context, scope: AdminScope): void {
  const caller = callerOf(ctx);
  if (caller?.scopes.includes(scope)) return;
  throw new Problem('insufficient-scope', `the token ${caller?.id ?? ''} lacks the scope ${scope}`);
}

/** Returns a check that the token of a request still has a scope, for long-lived responses. Always true without authentication. */
export function watchScope(ctx: Koa.Context, scope: AdminScope): () => Promise<boolean> {
  const findAgain = finders.get(ctx);
  return async () => !findAgain || ((await findAgain())?.scopes.includes(scope) ?? false);
}

/**
 * Depth to which a request may examine a configuration. Only tokens that may apply configurations can have plugins evaluated or
 * files opened that are not in use already.
 * @param reading also read the files that the configuration names.
 */
export function reachOf(ctx: Koa.Context, reading = false): Reach {
  if (!callerOf(ctx)?.scopes.includes('write')) return 'closed';
  return reading ? 'files' : 'plugins';
}

/** The address a request came from, without a zone; null for a socket file. */
export function addressOf(ctx: Koa.Context): string | null {
  const [address = ''] = socketAddress(ctx.req).split('%');
  return address || null;
}
