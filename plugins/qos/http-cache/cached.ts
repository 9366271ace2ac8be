import {
  ByteStream,
  Call,
  type CallError,
  CancelledError,
  discard,
  HeaderBag,
  type PipeRequest,
  Reply,
  type Step,
} from '#contract';
import type { ChangeReply } from '../../services/changed-replies.ts';
import { type Directives, readDirectives } from './directives.ts';
import { confirmed, type Entry, entryOf, type Received, replyOf } from './entry.ts';
import type { Flights } from './flights.ts';
import { identityOf } from './identity.ts';
import { keepBody } from './keep-body.ts';
import type { Limits, Store } from './store.ts';
import { helpsOnError, isHeldByClient, judge } from './use.ts';

/** How a request was answered, for those who count. */
export type Use = 'hit' | 'miss' | 'stale' | 'confirmed' | 'bypass';

/** What the cache of one backend works with. */
export interface Caching {
  readonly store: Store;
  readonly flights: Flights;
  readonly limits: Limits;
  /** Answers go to the client as they are: one it has already can be answered with 304. */
  readonly isRaw: boolean;
  /** How long the backend may take when nobody waits, in milliseconds. */
  readonly timeoutMs: number;
  /** Changes that others make to replies outside of the cache. */
  readonly changes: readonly ChangeReply[];
  /** Told of what was put into the store, and of addresses whose answers were dropped. */
  readonly kept: (entry: Entry) => void;
  readonly dropped: (keys: readonly string[]) => void;
  readonly counted: (use: Use) => void;
}

/** Fetches of others that are waited for, one after another, before a request goes to the backend by itself. */
const MAX_WAITS = 4;

/** One request on its way through the cache. */
interface Asking {
  readonly request: PipeRequest;
  readonly key: string;
  readonly identity: string;
  readonly asked: Directives;
}

/** Answers from the store what is fresh there, and keeps what comes back. */
export function cached(caching: Caching, next: Step<PipeRequest>): Step<PipeRequest> {
  const { store, flights, counted } = caching;
  return (request, call) => {
    const { method, headers } = request;
    if ((method !== 'GET' && method !== 'HEAD') || headers.has('range')) return bypass(caching, next, request, call);
    const asking: Asking = {
      request,
      key: keyOf(method, request.origin, request.target),
      identity: identityOf(request),
      asked: readDirectives(headers),
    };
    const now = Date.now();
    const entry = find(store, asking);
    const verdict = entry && judge(entry, asking.asked, now);
    if (verdict === 'fresh') {
      counted('hit');
      return give(caching, entry!, asking, now);
    }
    if (asking.asked.has('only-if-cached')) {
      counted('miss');
      return new Reply(504);
    }
    if (verdict === 'stale') {
      counted('stale');
      if (!flights.isFlying(asking.key)) refresh(caching, next, asking, call);
      return give(caching, entry!, asking, now);
    }
    return fetchOrWait(caching, next, asking, call);
  };
}

/** The name of an address in the store. */
export function keyOf(method: string, origin: string, target: string): string {
  return `${method} ${origin}${target}`;
}

function find(store: Store, { key, identity, request }: Asking): Entry | undefined {
  return store.find(key, identity, request.headers);
}

function give({ isRaw }: Caching, entry: Entry, { request }: Asking, now: number): Reply {
  const reply = replyOf(entry, now);
  if (!isRaw || !isHeldByClient(entry, request.headers, reply.headers)) return reply;
  reply.status = 304;
  reply.body = null;
  reply.headers.delete('content-length');
  return reply;
}

/** Not for the store. What changes something at its address makes the answers kept of it worthless. */
async function bypass(caching: Caching, next: Step<PipeRequest>, request: PipeRequest, call: Call): Promise<Reply> {
  const { method, origin, target } = request;
  caching.counted('bypass');
  const reply = await next(request, call);
  const isSafe = method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'TRACE';
  if (isSafe || reply.errors.length > 0 || reply.status >= 400) return reply;
  const { headers } = reply;
  const targets = new Set([target]);
  for (const header of ['location', 'content-location']) {
    const url = URL.parse(headers.get(header) ?? '', origin + target);
    if (url && url.origin === new URL(origin).origin) targets.add(url.pathname + url.search);
  }
  const keys = [...targets].flatMap((each) => [keyOf('GET', origin, each), keyOf('HEAD', origin, each)]);
  for (const key of keys) caching.store.dropAll(key);
  caching.dropped(keys);
  return reply;
}

async function fetchOrWait(caching: Caching, next: Step<PipeRequest>, asking: Asking, call: Call): Promise<Reply> {
  const { store, flights, counted } = caching;
  const mayWait = !asking.asked.has('no-cache') && !asking.asked.has('no-store');
  for (let waits = 0; mayWait && waits < MAX_WAITS; waits++) {
    const flight = flights.waitFor(asking.key, Date.now());
    if (flight === undefined) break;
    const landing = await flight.wait(call);
    if (call.reason) return Reply.failed(call.reason as CallError);
    if (landing === 'failed' || landing === 'not kept') break;
    const now = Date.now();
    const entry = find(store, asking);
    if (entry && judge(entry, asking.asked, now) === 'fresh') {
      counted('hit');
      return give(caching, entry, asking, now);
    }
  }
  return fetch(caching, next, asking, call);
}

/** Asks the backend while the client has its answer already. */
function refresh(caching: Caching, next: Step<PipeRequest>, asking: Asking, call: Call): void {
  const own = new Call(call.log, caching.timeoutMs, call.host);
  const request = asking.request.copy();
  const refreshed = fetch(caching, next, { ...asking, request }, own).then(readAway);
  call.background(refreshed.finally(() => own.finish()));
}

/** Reads what nobody waits for to its end, for the sake of what is kept of it. */
function readAway({ body }: Reply): Promise<void> | void {
  if (!(body instanceof ByteStream)) return;
  return new Promise((resolve) => body.flow({ write: () => true, end: resolve, fail: () => resolve() }));
}

/** Asks the backend, and keeps what it says. */
async function fetch(caching: Caching, next: Step<PipeRequest>, asking: Asking, call: Call): Promise<Reply> {
  const { store, flights, counted } = caching;
  const { request, key, asked } = asking;
  const stale = find(store, asking);
  const land = flights.begin(key);
  const end = (landing: Parameters<NonNullable<typeof land>>[0]) => land?.(landing, Date.now());
  const askedAt = Date.now();
  const own = request.headers;
  const isConfirming = stale !== undefined && confirmable(stale);
  if (isConfirming) request.headers = confirming(own, stale);
  let reply: Reply;
  try {
    reply = await next(request, call);
  } catch (error) {
    end('failed');
    throw error;
  } finally {
    request.headers = own;
  }
  const received: Received = { reply, request, askedAt, cameAt: Date.now(), ruling: rulingOf(caching, reply, request) };
  if (isConfirming && reply.status === 304 && reply.errors.length === 0) {
    counted('confirmed');
    discard(reply.body);
    const entry = confirmed(stale, received);
    keep(caching, entry, asking);
    end('kept');
    return give(caching, entry, asking, received.cameAt);
  }
  if (reply.errors.length > 0 || reply.status >= 500) {
    const isCancelled = reply.errors.some((error) => error instanceof CancelledError);
    if (stale && !isCancelled && helpsOnError(stale, asked, received.cameAt)) {
      counted('stale');
      discard(reply.body);
      end('failed');
      return give(caching, stale, asking, received.cameAt);
    }
    if (reply.errors.length > 0) {
      end(isCancelled ? 'cancelled' : 'failed');
      return reply;
    }
  }
  counted('miss');
  const entry = reply.data === null && !reply.skipped ? entryOf(received, asked, key, asking.identity) : null;
  if (stale) store.drop(stale);
  if (entry === null) {
    end('not kept');
    return reply;
  }
  reply.body = keepBody(reply.body, caching.limits.maxBytes, store, (whole, error) => {
    if (whole === null) return end(error instanceof CancelledError ? 'cancelled' : error ? 'failed' : 'not kept');
    keep(caching, { ...entry, body: reply.body === null ? null : whole }, asking);
    end('kept');
  });
  return reply;
}

function keep(caching: Caching, entry: Entry, { request }: Asking): void {
  if (caching.store.put(entry, caching.limits, request.headers)) caching.kept(entry);
}

/** The headers of a reply as they are once everybody outside of the cache has changed them. */
function rulingOf({ changes }: Caching, reply: Reply, request: PipeRequest): Reply['headers'] {
  if (changes.length === 0 || reply.errors.length > 0) return reply.headers;
  const changed = Reply.raw(reply.status, reply.headers.copy(), null);
  try {
    for (const change of changes) change(changed, request);
  } catch {
    // Whoever cannot change it fails the call.
    return new HeaderBag(['Cache-Control', 'no-store']);
  }
  return changed.headers;
}

function confirmable({ headers }: Entry): boolean {
  return headers.some((name, at) => at % 2 === 0 && /^(?:etag|last-modified)$/i.test(name));
}

/** The headers of a request that asks whether a kept answer still holds. */
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
