import { type Call, CancelledError, discard, type Reply } from '#contract';
import type { Flight } from './flights.ts';

/**
 * Calls the backend while another request's fetch may still complete. Returns the first of the two responses and
 * discards the other.
 * @param fetchOwn calls the backend.
 * @param landed the reply once the other fetch has completed; null when its response does not fit this request.
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
