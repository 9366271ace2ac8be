import { type Call, CancelledError, discard, HeaderBag, type PipeRequest, Reply, type Step } from '#contract';
import { type Asking, type Caching, give } from './caching.ts';
import { confirmed, type Entry, entryOf, type Received } from './entry.ts';
import type { Landing } from './flights.ts';
import { keepBody } from './keep-body.ts';
import { moment } from './moment.ts';
import { helpsOnError } from './use.ts';

/** Result of a fetch that other requests can use. */
export interface Kept {
  readonly entry: Entry;
  /** Time of the request, as returned by `moment`. */
  readonly requestedAt: number;
}

/** Called once when a fetch ends; `kept` is null unless the response was stored. */
export type Ending = (landing: Landing, kept: Kept | null) => void;

/** Calls the backend, and stores its response. */
export async function fetch(
  caching: Caching,
  next: Step<PipeRequest>,
  asking: Asking,
  call: Call,
  end: Ending,
): Promise<Reply> {
  const { store, counted } = caching;
  const { request, key, requested, asker } = asking;
  const stale = store.find(key, asking);
  const since = moment();
  const requestedAt = Date.now();
  const own = request.headers;
  const isConfirming = stale !== undefined && confirmable(stale);
  if (isConfirming) request.headers = confirming(own, stale);
  let reply: Reply;
  try {
    reply = await next(request, call);
  } catch (error) {
    end('failed', null);
    throw error;
  } finally {
    request.headers = own;
  }
  const received: Received = {
    reply,
    request,
    requestedAt,
    cameAt: Date.now(),
    ruling: rulingOf(caching, reply, request),
  };
  const keep = (entry: Entry): void => {
    const isKept = store.isUnchanged(key, since);
    if (isKept) store.put(entry, caching.limits, asking);
    end(isKept ? 'kept' : 'not kept', isKept ? { entry, requestedAt: since } : null);
  };
  if (isConfirming && reply.status === 304 && reply.errors.length === 0) {
    counted('confirmed');
    discard(reply.body);
    const { entry, isKept } = confirmed(stale, received, requested, asker);
    if (isKept) keep(entry);
    else {
      store.drop(stale);
      end('not kept', null);
    }
    return give(caching, entry, asking, received.cameAt);
  }
  if (reply.errors.length > 0 || reply.status >= 500) {
    const isCancelled = reply.errors.some((error) => error instanceof CancelledError);
    if (stale && !isCancelled && helpsOnError(stale, requested, received.cameAt)) {
      counted('stale');
      discard(reply.body);
      end('failed', null);
      return give(caching, stale, asking, received.cameAt);
    }
    if (reply.errors.length > 0) {
      end(isCancelled ? 'cancelled' : 'failed', null);
      return reply;
    }
  }
  counted('miss');
  const entry = reply.data === null && !reply.skipped ? entryOf(received, requested, key, asker) : null;
  if (stale) store.drop(stale);
  if (entry === null) {
    end('not kept', null);
    return reply;
  }
  reply.body = keepBody(reply.body, caching.maxBytes, store, (whole, error) => {
    if (whole !== null) keep({ ...entry, body: reply.body === null ? null : whole });
    else end(error instanceof CancelledError ? 'cancelled' : error ? 'failed' : 'not kept', null);
  });
  return reply;
}

/** Headers of a reply after all modifications outside the cache. */
function rulingOf({ changes }: Caching, reply: Reply, request: PipeRequest): Reply['headers'] {
  if (changes.length === 0 || reply.errors.length > 0) return reply.headers;
  const changed = Reply.raw(reply.status, reply.headers.copy(), null);
  try {
    for (const change of changes) change(changed, request);
  } catch {
    // If a component cannot modify the reply, the call fails and the response is not stored.
    return new HeaderBag(['Cache-Control', 'no-store']);
  }
  return changed.headers;
}

function confirmable({ headers }: Entry): boolean {
  return headers.some((name, at) => at % 2 === 0 && /^(?:etag|last-modified)$/i.test(name));
}

/** Headers of a request that validates a stored response. */
function confirming(own: PipeRequest['headers'], stale: Entry): PipeRequest['headers'] {
  const headers = own.copy();
  headers.filter((name) => !/^if-(?:none-match|modified-since|match|unmodified-since|range)$/.test(name));
  for (let at = 0; at < stale.headers.length; at += 2) {
    const name = stale.headers[at]!.toLowerCase();
    if (name === 'etag') headers.set('If-None-Match', stale.headers[at + 1]!);
    if (name === 'last-modified') headers.set('If-Modified-Since', stale.headers[at + 1]!);
  }
  return headers;
}
