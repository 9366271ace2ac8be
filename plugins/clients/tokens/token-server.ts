import { HeaderBag, type PipeRequest, RequestBody } from '#contract';
import { requestTo } from '../../shared/calls/request-to.ts';

/** Longest time for a token to be issued, in milliseconds, including all requests. */
export const ISSUE_MS = 10_000;

/** An issued token. */
export interface IssuedToken {
  /** Value of the `Authorization` header. */
  readonly authorization: string;
  /** Lifetime in milliseconds; null if it does not expire. */
  readonly lifeMs: number | null;
}

/** A server that issues tokens. */
export interface TokenServer {
  /** Time before its expiry from which a token is no longer used, in milliseconds. */
  readonly reserveMs: number;
  /** Requests a token. @throws Error with the cause, which contains no secrets. */
  issue(signal: AbortSignal): Promise<IssuedToken>;
}

/** Creates a token request; without a form it is a GET request. */
export function tokenRequest(url: URL, headers: HeaderBag | readonly string[], form: string | null): PipeRequest {
  const bag = headers instanceof HeaderBag ? headers.copy() : new HeaderBag([...headers]);
  return form === null ? requestTo(url, 'GET', bag, null) : requestTo(url, 'POST', bag, RequestBody.of(form));
}

/** Whether data sent to one URL may also be sent to the other one, because the hosts are equal. */
export function isSameHost(to: URL, from: URL): boolean {
  const isDowngrade = from.protocol === 'https:' && to.protocol !== 'https:';
  return /^https?:$/.test(to.protocol) && to.hostname === from.hostname && !isDowngrade;
}
