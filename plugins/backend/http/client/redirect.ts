import { BackendError, type HeaderBag } from '#contract';
import { withoutUser } from './failure.ts';

/** Redirects that are followed for one call. */
const MAX_REDIRECTS = 10;

/** Where a redirect leads. */
export interface RedirectTarget {
  readonly method: string;
  readonly origin: string;
  readonly target: string;
  readonly host: string | null;
  readonly headers: HeaderBag;
  /** The body is sent again. */
  readonly keepsBody: boolean;
}

/** The request a redirect answers. */
export interface RedirectSource {
  readonly method: string;
  readonly origin: string;
  readonly target: string;
  /** The `Host` that is sent; null for that of the origin. */
  readonly host: string | null;
  readonly headers: HeaderBag;
  /** Redirects before this request. */
  readonly redirects: number;
  /** Origin of the first request of the call. */
  readonly firstOrigin: string;
}

/** True for the statuses that send the caller elsewhere. */
export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** True for a redirect that asks for the same method and body again. */
export function repeatsBody(status: number): boolean {
  return status === 307 || status === 308;
}

/**
 * The request that follows a redirect, or why there is none. Codes: `BACKEND_REDIRECTS` after too many,
 * `BACKEND_REDIRECT` for a missing or unusable `Location`.
 */
export function redirectTo(
  status: number,
  location: string | undefined,
  from: RedirectSource,
): RedirectTarget | BackendError {
  if (from.redirects >= MAX_REDIRECTS)
    return new BackendError('BACKEND_REDIRECTS', `stopped after ${MAX_REDIRECTS} redirects`);
  const current = from.origin + from.target;
  const url = location === undefined ? null : URL.parse(utf8(location), current);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    const problem = location === undefined ? 'without a Location' : 'to an address that cannot be called';
    return new BackendError('BACKEND_REDIRECT', `backend ${withoutUser(from.origin)}: ${status} ${problem}`);
  }
  const keepsBody = repeatsBody(status);
  const headers = from.headers.copy();
  if (!keepsBody) headers.filter((name) => !name.startsWith('content-'));
  if (!isWithin(url.hostname, new URL(from.firstOrigin).hostname)) {
    headers.filter((name) => name !== 'authorization' && name !== 'cookie' && name !== 'www-authenticate');
  }
  if (from.origin.startsWith('https:') && url.protocol === 'http:') headers.delete('referer');
  else headers.set('Referer', withoutUser(current));
  return {
    method: keepsBody || from.method === 'HEAD' ? from.method : 'GET',
    origin: url.origin,
    target: url.pathname + url.search,
    host: url.origin === from.origin ? from.host : null,
    headers,
    keepsBody,
  };
}

/** True for the same host or one of its subdomains. */
function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** Header values are read as Latin-1; addresses in them are UTF-8. */
function utf8(value: string): string {
  return Buffer.from(value, 'latin1').toString();
}
