import { BackendError, type HeaderBag } from '#contract';
import { withoutUser } from './failure.ts';
import { isSocketAddress, urlOf } from './socket-address.ts';

/** Maximum number of redirects followed per call. */
const MAX_REDIRECTS = 10;

/** Target of a redirect. */
export interface RedirectTarget {
  readonly method: string;
  readonly origin: string;
  readonly target: string;
  readonly host: string | null;
  readonly headers: HeaderBag;
  /** Whether the body is sent again. */
  readonly keepsBody: boolean;
}

/** The redirected request. */
export interface RedirectSource {
  readonly method: string;
  readonly origin: string;
  readonly target: string;
  /** `Host` header of the request; null to use the origin's host. */
  readonly host: string | null;
  readonly headers: HeaderBag;
  /** Number of redirects before this request. */
  readonly redirects: number;
  /** Origin of the call's first request. */
  readonly firstOrigin: string;
}

/** Whether the status is a redirect that can be followed. */
export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** Whether the redirect requires the same method and body. Only 303 changes a QUERY. */
export function repeatsBody(status: number, method: string): boolean {
  return status === 307 || status === 308 || (method === 'QUERY' && status !== 303);
}

/**
 * Returns the request that follows a redirect, or the reason why it cannot be followed. Codes: `BACKEND_REDIRECTS`
 * after too many redirects, `BACKEND_REDIRECT` for a missing or invalid `Location`.
 */
export function redirectTo(
  status: number,
  location: string | undefined,
  from: RedirectSource,
): RedirectTarget | BackendError {
  if (from.redirects >= MAX_REDIRECTS)
    return new BackendError('BACKEND_REDIRECTS', `stopped after ${MAX_REDIRECTS} redirects`);
  const isOnSocket = isSocketAddress(from.origin);
  const called = urlOf(from.origin).origin;
  const current = called + from.target;
  const url = location === undefined ? null : URL.parse(utf8(location), current);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    const problem =
      location === undefined ? 'redirect without a Location header' : 'redirect to an address that cannot be called';
    return new BackendError('BACKEND_REDIRECT', `backend ${withoutUser(from.origin)}: ${status} ${problem}`);
  }
  const keepsBody = repeatsBody(status, from.method);
  const headers = from.headers.copy();
  if (!keepsBody) headers.filter((name) => !name.startsWith('content-'));
  const isSame = isOnSocket && url.origin === called;
  if (!isSame && !mayKnow(url.hostname, from.firstOrigin)) {
    headers.filter((name) => name !== 'authorization' && name !== 'cookie' && name !== 'www-authenticate');
  }
  if (from.origin.startsWith('https:') && url.protocol === 'http:') headers.delete('referer');
  else headers.set('Referer', withoutUser(current));
  return {
    method: keepsBody || from.method === 'HEAD' ? from.method : 'GET',
    origin: isSame ? from.origin : url.origin,
    target: url.pathname + url.search,
    host: url.origin === called ? from.host : null,
    headers,
    keepsBody,
  };
}

/**
 * Whether a host may receive the credentials of the first request. The server of a Unix socket has the name
 * `localhost`, but it differs from other servers on this machine.
 */
function mayKnow(host: string, firstOrigin: string): boolean {
  return !isSocketAddress(firstOrigin) && isWithin(host, new URL(firstOrigin).hostname);
}

/** Whether a host is the domain itself or one of its subdomains. */
function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** Decodes UTF-8 in a header value, which arrives as Latin-1. */
function utf8(value: string): string {
  return Buffer.from(value, 'latin1').toString();
}
