import { Call, type Log } from '#contract';

/** Runs a function with a call of the gateway's own, which ends after `timeoutMs` milliseconds or when the signal is aborted. */
export async function underOwnCall<T>(
  log: Log,
  timeoutMs: number,
  signal: AbortSignal,
  run: (call: Call) => Promise<T>,
): Promise<T> {
  const call = new Call(log, timeoutMs);
  const abort = () => call.cancel();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await run(call);
  } finally {
    signal.removeEventListener('abort', abort);
    call.finish();
  }
}
