import { HeaderBag, makeRequest, PipeRequest, Query, RequestBody } from '#contract';

/** Longest time for a token to be issued, in milliseconds, whatever is asked for it. */
export const ISSUE_MS = 10_000;

/** A token as it was issued. */
export interface IssuedToken {
  /** The value of `Authorization`. */
  readonly authorization: string;
  /** How long it is good, in milliseconds; null for ever. */
  readonly lifeMs: number | null;
}

/** Where tokens are issued. */
export interface TokenServer {
  /** How long before its end a token is not used any more, in milliseconds. */
  readonly reserveMs: number;
  /** Asks for a token. @throws Error with the cause, which holds nothing secret. */
  issue(signal: AbortSignal): Promise<IssuedToken>;
}

/** Requests without a form are GET. */
export function tokenRequest(url: URL, headers: HeaderBag | readonly string[], form: string | null): PipeRequest {
  const bag = headers instanceof HeaderBag ? headers.copy() : new HeaderBag([...headers]);
  const body = form === null ? null : RequestBody.of(form);
  const request = new PipeRequest(makeRequest({}), {}, new Query(), bag, body);
  request.method = body ? 'POST' : 'GET';
  request.origin = url.origin;
  request.target = url.pathname + url.search;
  return request;
}

/** True where what is sent to the one may be sent to the other. */
export function isSameHost(to: URL, from: URL): boolean {
  const isDowngrade = from.protocol === 'https:' && to.protocol !== 'https:';
  return /^https?:$/.test(to.protocol) && to.hostname === from.hostname && !isDowngrade;
}
