import { type Call, CancelledError, discard, type Reply } from '#contract';
import type { Flight } from './flights.ts';

/**
 * Asks the backend while the fetch of another request may still land. The first of the two answers; the other one is dropped.
 * @param fetchOwn asks the backend.
 * @param landed the reply once the other fetch has landed; null where its answer does not fit this request.
 */
export async function raceFlight(
  flight: Flight,
  call: Call,
  fetchOwn: (own: Call) => Promise<Reply>,
  landed: () => Reply | null | Promise<Reply | null>,
): Promise<Reply> {
  const own = call.fork();
  const fetched = fetchOwn(own);
  let isOver = false;
  let given: Reply | null = null;
  const awaited = flight.landed.then(async (landing) => {
    if (landing === 'kept' && !isOver) given = await landed();
    return given ?? fetched;
  });
  const reply = await Promise.race([fetched, awaited]);
  isOver = true;
  if (reply === given) {
    own.cancel(new CancelledError());
    fetched.then(({ body }) => discard(body)).catch(() => {});
  }
  return reply;
}
