import { ByteStream, Call, type CallError, type PipeRequest, Reply, type Step } from '#contract';
import { type Asking, type Caching, give } from './caching.ts';
import { type Ending, fetch } from './fetch.ts';
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
  const { store, flights, counted } = caching;
  const { key, asked } = asking;
  const mayWait = !asked.has('no-cache') && !asked.has('no-store');
  for (let waits = 0; mayWait && waits < MAX_WAITS; waits++) {
    if (flights.unkept.has(key, Date.now())) break;
    const flight = flights.flying(key);
    if (flight === undefined) return lead(caching, next, asking, call, flights.begin(key));
    const landing = await flight.wait(call);
    if (call.reason) return Reply.failed(call.reason as CallError);
    if (landing === 'failed' || landing === 'not kept') break;
    const now = Date.now();
    const entry = store.find(key, asking);
    if (entry && judge(entry, asked, now) === 'fresh') {
      counted('hit');
      return give(caching, entry, asking, now);
    }
  }
  return fetch(caching, next, asking, call, ending(caching, asking, flights.begin(key), false));
}

/** Asks the backend while the client has its answer already. */
export function refresh(caching: Caching, next: Step<PipeRequest>, asking: Asking, call: Call): void {
  const own = new Call(call.log, caching.timeoutMs, call.host);
  const request = asking.request.copy();
  const land = caching.flights.begin(asking.key);
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
  for (let waits = 0; gateway !== null && waits < MAX_WAITS; waits++) {
    const elsewhere = flights.expect(key);
    const response = await gateway.find(key, asking, store.find(key, asking));
    mayBeClaimed = response === null || response.does === 'fetch';
    const entry = response?.entry ?? null;
    const now = Date.now();
    if (entry !== null) store.put(entry, caching.limits, asking);
    const verdict = entry && judge(entry, asked, now);
    const isGood = verdict === 'fresh' || (verdict === 'stale' && response?.does === 'wait');
    const landing = !isGood && response?.does === 'wait' ? await elsewhere.wait(call) : null;
    flights.forget(key, elsewhere);
    if (call.reason) {
      ending(caching, asking, land, mayBeClaimed)('cancelled', null);
      return Reply.failed(call.reason as CallError);
    }
    if (isGood) {
      land?.('kept', now);
      counted(verdict === 'fresh' ? 'hit' : 'stale');
      return give(caching, entry!, asking, now);
    }
    if (landing !== 'kept' && landing !== 'cancelled') break;
  }
  return fetch(caching, next, asking, call, ending(caching, asking, land, mayBeClaimed));
}

/** @param mayBeClaimed the other workers may wait for it. */
function ending({ gateway }: Caching, asking: Asking, land: Land, mayBeClaimed: boolean): Ending {
  return (landing, kept) => {
    land?.(landing, Date.now());
    if (kept !== null) gateway?.put(kept.entry, asking, kept.askedAt);
    else if (mayBeClaimed) gateway?.land(asking.key, landing);
  };
}
