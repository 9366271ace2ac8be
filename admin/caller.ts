import type Koa from 'koa';
import type { AdminScope } from '#contract';
import { type Reach, socketAddress } from '#kernel';
import { Problem } from './problem.ts';

/** The sender of a request, identified by its token. */
export interface Caller {
  /** Token id. */
  readonly id: string;
  readonly scopes: readonly AdminScope[];
  /** Hash of the token. */
  readonly sha256: string;
}

/** Looks up the caller of a token again; null after the token was revoked. */
type FindAgain = () => Promise<Caller | null>;

const callers = new WeakMap<Koa.Context, Caller>();
const finders = new WeakMap<Koa.Context, FindAgain>();

/** Records the sender of a request. A token that may apply a configuration may also check one. */
export function setCaller(ctx: Koa.Context, caller: Caller, findAgain: FindAgain): void {
  const { scopes } = caller;
  callers.set(ctx, { ...caller, scopes: scopes.includes('write') ? [...scopes, 'check'] : scopes });
  finders.set(ctx, findAgain);
}

/** Sender of the request; null when the operation required no token. */
export function callerOf(ctx: Koa.Context): Caller | null {
  return callers.get(ctx) ?? null;
}

/** @throws Problem insufficient-scope when the token does not include the scope. */
export function demandScope(ctx: Koa.Context, scope: AdminScope): void {
  const caller = callerOf(ctx);
  if (caller?.scopes.includes(scope)) return;
  throw new Problem('insufficient-scope', `the token ${caller?.id ?? ''} lacks the scope ${scope}`);
}

/** Returns a check that the token of a request still has a scope, for long-lived responses. Always true if authentication is disabled. */
export function watchScope(ctx: Koa.Context, scope: AdminScope): () => Promise<boolean> {
  const findAgain = finders.get(ctx);
  return async () => !findAgain || ((await findAgain())?.scopes.includes(scope) ?? false);
}

/**
 * Depth to which a request may examine a configuration. A token that may not apply configurations cannot make the
 * gateway evaluate plugins or open files that are not already in use.
 * @param reading also read the files that the configuration names.
 */
export function reachOf(ctx: Koa.Context, reading = false): Reach {
  if (!callerOf(ctx)?.scopes.includes('write')) return 'closed';
  return reading ? 'files' : 'plugins';
}

/** Client address of a request, without a zone; null for a Unix socket. */
export function addressOf(ctx: Koa.Context): string | null {
  const [address = ''] = socketAddress(ctx.req).split('%');
  return address || null;
}
