import {
  ByteStream,
  type Call,
  gunzipBody,
  HeaderBag,
  makeRequest,
  PipeRequest,
  Query,
  RequestBody,
  type Site,
} from '#contract';
import { MAX_STRING_BYTES } from '../../engines/lua/budget.ts';
import type { RunHost } from '../../engines/lua/run.ts';

/**
 * Sends requests of scripts through the gateway's HTTP client, limited by the service's `timeout`: the
 * call of a request that has not reached its endpoint yet has no time limit of its own.
 */
export function scriptHttp(site: Site<unknown>): RunHost['http'] {
  const agent = `Sluice Version ${site.use('version')}`;
  const send = site.http();
  const limitMs = site.setting('timeout');
  return async ({ url, method, body, headers }, call: Call) => {
    const { origin, pathname, search } = new URL(url);
    const bag = new HeaderBag(headers.flat());
    if (!bag.has('user-agent')) bag.set('User-Agent', agent);
    const client = makeRequest({ method, body: body && RequestBody.of(body) });
    const request = new PipeRequest(client, {}, new Query(), bag, client.body);
    request.origin = origin;
    request.target = pathname + search;
    const limited = call.fork(limitMs);
    try {
      const reply = await send(request, limited);
      if (reply.errors.length > 0) throw new Error(reply.errors[0]!.message);
      const bytes = reply.body instanceof ByteStream ? await reply.body.collect(MAX_STRING_BYTES) : reply.body;
      const plain = bytes ? await gunzipBody(bytes, reply.headers, MAX_STRING_BYTES) : new Uint8Array();
      return { status: reply.status, headers: [...reply.headers], body: plain };
    } finally {
      limited.finish();
    }
  };
}
