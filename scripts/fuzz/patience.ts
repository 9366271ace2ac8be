/** Timeout of requests whose backend always responds: they fail on a fault of the gateway only, also on a busy machine. */
export const BACKEND_TIMEOUT = '20s';

/** Interval of the count, in milliseconds. */
const TICK_MS = 25;

/**
 * Calls a function after this process has been running for a time. A machine that does not let the process run does not
 * count, so that other load does not make anything late.
 * @param ms in milliseconds. @returns a function that cancels the call.
 */
export function afterPatience(ms: number, late: () => void): () => void {
  let left = ms;
  const timer = setInterval(() => {
    left -= TICK_MS;
    if (left > 0) return;
    clearInterval(timer);
    late();
  }, TICK_MS);
  return () => clearInterval(timer);
}
