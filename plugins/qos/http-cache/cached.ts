import { type PipeRequest, Reply, type Step } from '#contract';
import { type Asking, type Caching, give, keyOf } from './caching.ts';
import { readDirectives } from './directives.ts';
import { fetchOrWait, refresh } from './fetch-or-wait.ts';
import { passBy } from './pass-by.ts';
import { judge } from './use.ts';

/** Serves fresh responses from the store, and stores responses of the backend. */
export function cached(caching: Caching, next: Step<PipeRequest>): Step<PipeRequest> {
  const { store, flights, counted, identify } = caching;
  return (request, call) => {
    if (!isForStore(request)) return passBy(caching, next, request, call);
    const { method, headers, origin, target } = request;
    const key = keyOf(method, origin, target);
    const asking: Asking = { request, headers, key, asker: identify(request), requested: readDirectives(headers) };
    const now = Date.now();
    const entry = store.find(key, asking);
    const verdict = entry && judge(entry, asking.requested, now);
    if (verdict === 'fresh') {
      counted('hit');
      return give(caching, entry!, asking, now);
    }
    // Partial responses to range requests are not stored.
    if (method === 'GET' && headers.has('range')) return passBy(caching, next, request, call);
    if (asking.requested.has('only-if-cached')) {
      counted('miss');
      return new Reply(504);
    }
    if (verdict === 'stale') {
      counted('stale');
      if (flights.flying(store.variantName(key, asking)) === undefined) refresh(caching, next, asking, call);
      return give(caching, entry!, asking, now);
    }
    return fetchOrWait(caching, next, asking, call);
  };
}

/**
 * Whether a request may use the store. False for a request whose response depends on more than its address and headers,
 * and for one with conditions that only the backend can evaluate.
 */
function isForStore({ method, headers, body }: PipeRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (body !== null && body.length !== 0) return false;
  return !headers.has('if-match') && !headers.has('if-unmodified-since');
}
