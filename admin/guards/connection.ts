import type Koa from 'koa';
import { type AdminSettings, addressMatcher } from '#contract';
import { addressOf } from '../caller.ts';
import { Problem } from '../problem.ts';

/** Looks at a request before anything is done with it. Made once for every configuration. @throws Problem. */
export type Guard = (settings: AdminSettings) => (ctx: Koa.Context) => void;

/** Only from web pages that are allowed, and never as a request that such a page cannot read the answer of. */
const browserGuard: Guard = ({ allowed_origins: allowed }) => {
  const origins = new Set(allowed);
  return (ctx) => {
    // No browser reaches a socket file.
    if (addressOf(ctx) === null) return;
    const origin = ctx.headers['origin'];
    const isAllowed = origin !== undefined && origin !== 'null' && origins.has(origin);
    if (origin !== undefined && !isAllowed)
      throw new Problem('origin', `cross-origin requests from ${origin} are not allowed`);
    if (!isAllowed && ctx.get('sec-fetch-site') === 'cross-site')
      throw new Problem('origin', 'cross-site requests are not allowed');
    if (ctx.get('sec-fetch-mode') === 'no-cors') throw new Problem('origin', 'requests without CORS are refused');
  };
};

/** Ports that a Host header leaves out. */
const implied: ReadonlySet<number> = new Set([80, 443]);

/**
 * Only under names of its own: a page that has its own name resolve to this address does not get through (DNS
 * rebinding). The port that counts is the one the request came to.
 */
const hostGuard: Guard = ({ allowed_hosts: allowed }) => {
  const others = new Set(allowed.map((host) => host.toLowerCase()));
  return (ctx) => {
    if (addressOf(ctx) === null) return;
    const host = ctx.get('host').toLowerCase();
    const { localAddress = '', localPort = 0 } = ctx.req.socket;
    if (others.has(host) || namesOf(localAddress, localPort).includes(host)) return;
    throw new Problem('misdirected-request', `"${host}" is not one of this port's names; allow it with allowed_hosts`);
  };
};

function namesOf(localAddress: string, port: number): string[] {
  const plain = localAddress.replace(/^::ffff:/, '');
  const own = plain.includes(':') ? `[${plain}]` : plain;
  const names = ['localhost', '127.0.0.1', '[::1]', own];
  return [...names.map((name) => `${name}:${port}`), ...(implied.has(port) ? names : [])];
}

/** Only from addresses that may connect. */
const ipGuard: Guard = ({ allowed_ips: ranges }) => {
  if (ranges.length === 0) return () => {};
  const isAllowed = addressMatcher(ranges);
  return (ctx) => {
    const address = addressOf(ctx);
    if (address !== null && !isAllowed(address))
      throw new Problem('forbidden', `connections from ${address} are not allowed`);
  };
};

/** No other protocol is spoken: a WebSocket would pass what guards against foreign pages. */
const upgradeGuard: Guard = () => (ctx) => {
  if (ctx.headers['upgrade'] !== undefined) throw new Problem('bad-request', 'no protocol to upgrade to');
};

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
