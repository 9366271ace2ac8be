import { ByteStream, Call, type CallError, type PipeRequest, Reply, type Step } from '#contract';
import { type Asking, type Caching, give } from './caching.ts';
import { type Ending, fetch } from './fetch.ts';
import { raceFlight } from './race-flight.ts';
import { judge } from './use.ts';

/** Maximum number of consecutive fetches by others that a request waits for before it calls the backend itself. */
const MAX_WAITS = 4;

/** Ends a fetch that other requests of this process wait for; null when none can wait. */
type Land = ReturnType<Caching['flights']['begin']>;

/** Responds with the result of another request's fetch, if one is in progress; otherwise calls the backend. */
export async function fetchOrWait(
  caching: Caching,
  next: Step<PipeRequest>,
  asking: Asking,
  call: Call,
): Promise<Reply> {
  const { store, flights } = caching;
  const { key, requested } = asking;
  const mayWait = !requested.has('no-cache') && !requested.has('no-store');
  for (let waits = 0; mayWait && waits < MAX_WAITS; waits++) {
    // The variant name is computed again after each fetch, because the response shows which headers the responses of
    // its address vary by.
    const name = store.variantName(key, asking);
    if (flights.unkept.has(name, Date.now())) break;
    const flight = flights.flying(name);
    if (flight === undefined) return lead(caching, next, asking, call, flights.begin(name));
    const landing = await flight.wait(call);
    if (call.reason) return Reply.failed(call.reason as CallError);
    if (landing === 'late') {
      const fetchOwn = (own: Call) => fetch(caching, next, asking, own, ending(caching, asking, null, false));
      return raceFlight(flight, call, fetchOwn, () => giveFresh(caching, asking));
    }
    if (landing === 'failed' || landing === 'not kept') break;
    const reply = giveFresh(caching, asking);
    if (reply !== null) return reply;
  }
  const land = flights.begin(store.variantName(key, asking));
  return fetch(caching, next, asking, call, ending(caching, asking, land, false));
}

/** Responds from the store; null when it has no fresh response. */
function giveFresh(caching: Caching, asking: Asking): Reply | null {
  const now = Date.now();
  const entry = caching.store.find(asking.key, asking);
  if (!entry || judge(entry, asking.requested, now) !== 'fresh') return null;
  caching.counted('hit');
  return give(caching, entry, asking, now);
}

/** Calls the backend in the background, after the client has received its response. */
export function refresh(caching: Caching, next: Step<PipeRequest>, asking: Asking, call: Call): void {
  const own = new Call(call.log, caching.timeoutMs, call.host);
  const request = asking.request.copy();
  const land = caching.flights.begin(caching.store.variantName(asking.key, asking));
  const refreshed = lead(caching, next, { ...asking, request, headers: request.headers }, own, land).then(readAway);
  call.background(refreshed.finally(() => own.finish()));
}

/** Reads an unused body to its end, so that it can be stored. */
function readAway({ body }: Reply): Promise<void> | void {
  if (!(body instanceof ByteStream)) return;
  return new Promise((resolve) => body.flow({ write: () => true, end: resolve, fail: () => resolve() }));
}

/** Makes the one call for all waiting requests of this process. A response that another worker has or is fetching is used instead of calling the backend. */
async function lead(caching: Caching, next: Step<PipeRequest>, asking: Asking, call: Call, land: Land): Promise<Reply> {
  const { gateway, flights, store, counted } = caching;
  const { key, requested } = asking;
  let mayBeClaimed = false;
  const find = async (): Promise<{ reply: Reply | null; isElsewhere: boolean }> => {
    const response = await gateway!.find(key, asking, store.find(key, asking));
    mayBeClaimed = response === null || response.does === 'fetch';
    const entry = response?.entry ?? null;
    const now = Date.now();
    if (entry !== null) store.put(entry, caching.limits, asking);
    const verdict = entry && judge(entry, requested, now);
    const isElsewhere = response?.does === 'wait';
    if (verdict !== 'fresh' && !(verdict === 'stale' && isElsewhere)) return { reply: null, isElsewhere };
    land?.('kept', now);
    counted(verdict === 'fresh' ? 'hit' : 'stale');
    return { reply: give(caching, entry!, asking, now), isElsewhere };
  };
  const fetchOwn = (own: Call) => fetch(caching, next, asking, own, ending(caching, asking, land, mayBeClaimed));
  for (let waits = 0; gateway !== null && waits < MAX_WAITS; waits++) {
    const elsewhere = flights.expect(key);
    try {
      const { reply, isElsewhere } = await find();
      const landing = reply === null && isElsewhere ? await elsewhere.wait(call) : null;
      if (call.reason) {
        ending(caching, asking, land, mayBeClaimed)('cancelled', null);
        return Reply.failed(call.reason as CallError);
      }
      if (reply !== null) return reply;
      if (landing === 'late') return await raceFlight(elsewhere, call, fetchOwn, async () => (await find()).reply);
      if (landing !== 'kept' && landing !== 'cancelled') break;
    } finally {
      flights.forget(key, elsewhere);
    }
  }
  return fetchOwn(call);
}

/** @param mayBeClaimed true when other workers may wait for the fetch. */
function ending({ gateway }: Caching, asking: Asking, land: Land, mayBeClaimed: boolean): Ending {
  return (landing, kept) => {
    land?.(landing, Date.now());
    if (kept !== null) gateway?.put(kept.entry, asking, kept.requestedAt);
    else if (mayBeClaimed) gateway?.land(asking.key, landing);
  };
}
