import type Koa from 'koa';
import { type AdminSettings, addressMatcher } from '#contract';
import { addressOf } from '../caller.ts';
import { Problem } from '../problem.ts';

/** Checks a request before it is processed. Created once per configuration. @throws Problem. */
export type Guard = (settings: AdminSettings) => (ctx: Koa.Context) => void;

/**
 * Accepts browser requests only from the dashboard and from allowed origins, and only in modes in which the page can read
 * the response. The dashboard's own origin is the accepted host name of the request, see `hostGuard`.
 */
const browserGuard: Guard = ({ allowed_origins: allowed }) => {
  const origins = new Set(allowed);
  return (ctx) => {
    // Requests over a Unix socket are always accepted, because browsers cannot connect to one.
    if (addressOf(ctx) === null) return;
    const origin = ctx.headers['origin'];
    const isAllowed = origin !== undefined && origin !== 'null' && (origins.has(origin) || origin === ownOrigin(ctx));
    if (origin !== undefined && !isAllowed)
      throw new Problem('origin', `cross-origin requests from ${origin} are not allowed`);
    if (!isAllowed && ctx.get('sec-fetch-site') === 'cross-site')
      throw new Problem('origin', 'cross-site requests are not allowed');
    if (ctx.get('sec-fetch-mode') === 'no-cors') throw new Problem('origin', 'cross-site requests must use CORS');
  };
};

/** Origin of a page that the admin port serves under the host name of the request. */
function ownOrigin({ req: { socket, headers } }: Koa.Context): string {
  return `${'encrypted' in socket ? 'https' : 'http'}://${headers.host?.toLowerCase()}`;
}

/** Ports that a Host header omits, by protocol. */
const implied: ReadonlySet<number> = new Set([80, 443]);

/**
 * Accepts only the gateway's own host names, which blocks pages whose own name resolves to this address (DNS
 * rebinding). The port is compared with the one that received the request.
 */
const hostGuard: Guard = ({ allowed_hosts: allowed }) => {
  const others = new Set(allowed.map((host) => host.toLowerCase()));
  return (ctx) => {
    if (addressOf(ctx) === null) return;
    const host = ctx.get('host').toLowerCase();
    const { localAddress = '', localPort = 0 } = ctx.req.socket;
    if (others.has(host) || namesOf(localAddress, localPort).includes(host)) return;
    throw new Problem(
      'misdirected-request',
      `"${host}" is not an accepted host name of the admin port; add it to allowed_hosts`,
    );
  };
};

function namesOf(localAddress: string, port: number): string[] {
  const plain = localAddress.replace(/^::ffff:/, '');
  const own = plain.includes(':') ? `[${plain}]` : plain;
  const names = ['localhost', '127.0.0.1', '[::1]', own];
  return [...names.map((name) => `${name}:${port}`), ...(implied.has(port) ? names : [])];
}

/** Rejects client addresses outside the allowed ranges. */
const ipGuard: Guard = ({ allowed_ips: ranges }) => {
  if (ranges.length === 0) return () => {};
  const isAllowed = addressMatcher(ranges);
  return (ctx) => {
    const address = addressOf(ctx);
    if (address !== null && !isAllowed(address))
      throw new Problem('forbidden', `connections from ${address} are not allowed`);
  };
};

/** Rejects protocol upgrades: a WebSocket would bypass the guards against foreign pages. */
const upgradeGuard: Guard = () => (ctx) => {
  if (ctx.headers['upgrade'] !== undefined)
    throw new Problem('bad-request', 'the admin port does not support protocol upgrades');
};

/** Checks of a connection or request, in order of evaluation, before its token is checked. */
const guards: readonly Guard[] = [ipGuard, hostGuard, browserGuard, upgradeGuard];

/** Runs the checks that precede the check of the token. @param settings the current settings. */
export function guardConnection(settings: () => AdminSettings): Koa.Middleware {
  let made: { readonly for: AdminSettings; readonly checks: readonly ((ctx: Koa.Context) => void)[] } | null = null;
  return (ctx, next) => {
    const now = settings();
    if (made?.for !== now) made = { for: now, checks: guards.map((guard) => guard(now)) };
    for (const check of made.checks) check(ctx);
    return next();
  };
}
