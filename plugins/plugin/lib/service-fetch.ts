import { ByteStream, Call, type Fetch, makeRequest, PipeRequest, Query, type Site } from '#contract';
import { bodyOfMessage } from './fetch-bodies.ts';
import { bagOf } from './fetch-headers.ts';
import { toResponse } from './fetch-response.ts';

/** Timeout for a call without a signal, including its body, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Creates the `fetch` that modules use, backed by the service's HTTP client. */
export function serviceFetch(site: Site<unknown>): Fetch {
  const send = site.http({ ofService: true });
  const agent = `Sluice Version ${site.use('version')}`;
  return async (input, init) => {
    const requested = new Request(input, init);
    const url = new URL(requested.url);
    const headers = bagOf(requested.headers);
    if (!headers.has('user-agent')) headers.set('User-Agent', agent);
    const { signal } = requested;
    const isBounded = !(input instanceof Request) && !init?.signal;
    const call = new Call(site.log, isBounded ? TIMEOUT_MS : Number.POSITIVE_INFINITY);
    const abort = (): void => call.cancel();
    signal.throwIfAborted();
    signal.addEventListener('abort', abort, { once: true });
    const over = (): void => {
      signal.removeEventListener('abort', abort);
      call.finish();
    };
    const client = makeRequest({ method: requested.method, body: bodyOfMessage(requested, call) });
    const request = new PipeRequest(client, {}, new Query(), headers, client.body);
    request.origin = url.origin;
    request.target = url.pathname + url.search;
    const reply = await send(request, call);
    if (reply.errors.length > 0) {
      over();
      signal.throwIfAborted();
      throw new TypeError('fetch failed', { cause: reply.errors[0] });
    }
    if (reply.body instanceof ByteStream) reply.body.tap({ write() {}, end: over, fail: over, cancel: over });
    else over();
    return toResponse(reply);
  };
}
