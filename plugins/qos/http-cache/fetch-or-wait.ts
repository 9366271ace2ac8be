import { ByteStream, Call, type CallError, type PipeRequest, Reply, type Step } from '#contract';
import { type Asking, type Caching, give } from './caching.ts';
import { type Ending, fetch } from './fetch.ts';
import { raceFlight } from './race-flight.ts';
import { judge } from './use.ts';

/** Fetches of others that are waited for, one after another, before a request goes to the backend by itself. */
const MAX_WAITS = 4;

/** Ends a fetch that others of this process wait for; null for one that nobody waits for. */
type Land = ReturnType<Caching['flights']['begin']>;

/** Answers with what another request brings, where one is on its way; else asks the backend. */
export async function fetchOrWait(
  caching: Caching,
  next: Step<PipeRequest>,
  asking: Asking,
  call: Call,
): Promise<Reply> {
  const { store, flights } = caching;
  const { key, asked } = asking;
  const mayWait = !asked.has('no-cache') && !asked.has('no-store');
  for (let waits = 0; mayWait && waits < MAX_WAITS; waits++) {
    // Named anew after each fetch: the answer shows what the answers of its address depend on.
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

/** Answers with what is kept; null where nothing fresh is. */
function giveFresh(caching: Caching, asking: Asking): Reply | null {
  const now = Date.now();
  const entry = caching.store.find(asking.key, asking);
  if (!entry || judge(entry, asking.asked, now) !== 'fresh') return null;
  caching.counted('hit');
  return give(caching, entry, asking, now);
}

/** Asks the backend while the client has its answer already. */
export function refresh(caching: Caching, next: Step<PipeRequest>, asking: Asking, call: Call): void {
  const own = new Call(call.log, caching.timeoutMs, call.host);
  const request = asking.request.copy();
  const land = caching.flights.begin(caching.store.variantName(asking.key, asking));
  const refreshed = lead(caching, next, { ...asking, request, headers: request.headers }, own, land).then(readAway);
  call.background(refreshed.finally(() => own.finish()));
}

/** Reads what nobody waits for to its end, for the sake of what is kept of it. */
function readAway({ body }: Reply): Promise<void> | void {
  if (!(body instanceof ByteStream)) return;
  return new Promise((resolve) => body.flow({ write: () => true, end: resolve, fail: () => resolve() }));
}

/** The first request of this process: what another worker has or brings is as good as what the backend would say. */
async function lead(caching: Caching, next: Step<PipeRequest>, asking: Asking, call: Call, land: Land): Promise<Reply> {
  const { gateway, flights, store, counted } = caching;
  const { key, asked } = asking;
  let mayBeClaimed = false;
  const find = async (): Promise<{ reply: Reply | null; isElsewhere: boolean }> => {
    const response = await gateway!.find(key, asking, store.find(key, asking));
    mayBeClaimed = response === null || response.does === 'fetch';
    const entry = response?.entry ?? null;
    const now = Date.now();
    if (entry !== null) store.put(entry, caching.limits, asking);
    const verdict = entry && judge(entry, asked, now);
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

/** @param mayBeClaimed the other workers may wait for it. */
function ending({ gateway }: Caching, asking: Asking, land: Land, mayBeClaimed: boolean): Ending {
  return (landing, kept) => {
    land?.(landing, Date.now());
    if (kept !== null) gateway?.put(kept.entry, asking, kept.askedAt);
    else if (mayBeClaimed) gateway?.land(asking.key, landing);
  };
}
