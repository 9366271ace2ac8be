import type Koa from 'koa';
import type { AdminSettings } from '#contract';
import { browserGuard } from './browser.ts';
import type { Guard } from './guard.ts';
import { hostGuard } from './host.ts';
import { ipGuard } from './ip.ts';
import { upgradeGuard } from './upgrade.ts';

/** In the order in which they look. */
const guards: readonly Guard[] = [ipGuard, hostGuard, browserGuard, upgradeGuard];

/** Everything that is looked at before the token. @param settings those in force. */
export function guardConnection(settings: () => AdminSettings): Koa.Middleware {
  let made: { readonly for: AdminSettings; readonly checks: readonly ((ctx: Koa.Context) => void)[] } | null = null;
  return (ctx, next) => {
    const now = settings();
    if (made?.for !== now) made = { for: now, checks: guards.map((guard) => guard(now)) };
    for (const check of made.checks) check(ctx);
    return next();
  };
}
