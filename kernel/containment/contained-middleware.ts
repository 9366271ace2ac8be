import type { KoaMiddleware } from '#contract';
import { type HookGuard, noteOfOthers } from './hook-guard.ts';
import { beginHook } from './marks.ts';

/** Contains the faults of Koa middleware. Rejecting a request with `context.throw(403)` is not a fault. */
export function containedMiddleware(middleware: KoaMiddleware, guard: HookGuard): KoaMiddleware {
  const { record, number, skips } = guard;
  return async (context, next) => {
    if (record.suspension !== null) {
      if (skips) return next();
      context.status = guard.suspended.view.status!;
      context.body = '';
      return;
    }
    let inner: Promise<void> | null = null;
    const goOn = (): Promise<void> => {
      beginHook(0);
      inner = next();
      inner.catch(noteOfOthers);
      beginHook(number);
      return inner;
    };
    try {
      beginHook(number);
      const running = middleware(context, goOn);
      beginHook(0);
      await running;
      guard.passed();
    } catch (error) {
      beginHook(0);
      if (isRefusal(error)) throw error;
      const failure = guard.judge(error);
      if (!skips || failure.code !== 'PLUGIN_FAULT') throw failure.code === 'PLUGIN_FAULT' ? failure : error;
      await (inner ?? next());
    }
  };
}

/** True for a client error as created by Koa's `context.throw`. */
function isRefusal(error: unknown): boolean {
  const { status, expose } = (error ?? {}) as { readonly status?: unknown; readonly expose?: unknown };
  return typeof status === 'number' && expose === true;
}
