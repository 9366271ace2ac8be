import { HeaderBag, type HttpOptions, type Reply, RequestBody, type Site } from '#contract';
import { underOwnCall } from '../../shared/calls/own-call.ts';
import { requestTo } from '../../shared/calls/request-to.ts';

/** Timeout of one request between a gateway and the revoke server, in milliseconds. */
const ASK_MS = 30_000;
/** Maximum size of a response that is read, in bytes. */
const MAX_BYTES = 64 * 1024;

/** Sends a request to a URL. @returns the status. @throws Error without a response. */
export type Ask = (url: URL, body: Uint8Array, signal: AbortSignal) => Promise<number>;

/**
 * Creates the function for requests between gateways and the revoke server. Uses the gateway's HTTP client and the
 * shared API key.
 * @param calls see `HttpOptions`.
 */
export function asker(site: Site<unknown>, key: string | undefined, calls: HttpOptions['calls'] = []): Ask {
  const send = site.http({ ofService: true, followsRedirects: false, calls });
  return (url, body, signal) => {
    const headers = new HeaderBag(['Content-Type', 'application/json']);
    if (key !== undefined) headers.set('Authorization', `Bearer ${key}`);
    const request = requestTo(url, 'POST', headers, RequestBody.of(body));
    return underOwnCall(site.log, ASK_MS, signal, async (call) => statusOf(await send(request, call)));
  };
}

async function statusOf({ errors, status, body }: Reply): Promise<number> {
  if (errors.length > 0) throw errors[0]!;
  if (body !== null && !(body instanceof Uint8Array)) await body.collect(MAX_BYTES);
  return status;
}
