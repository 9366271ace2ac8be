import { ConfigError } from '#contract';
import { ConfigErrors, GatewayError } from '../../contract/internal.ts';
import { untilAborted } from '../../values/until-aborted.ts';

/** Time limit for all warm-ups of one build, in milliseconds. */
const WARM_UP_MS = 10_000;

/** A task to complete before a configuration serves. Its signal aborts when the result is no longer needed. */
export type WarmUp = (signal: AbortSignal) => Promise<void>;

/**
 * Runs all warm-ups concurrently. A task that ignores its signal is abandoned: neither the change nor the gateway waits
 * for it.
 * @param canceled aborts when the change is abandoned.
 * @throws ConfigErrors WARM_UP for each task that failed or did not finish; the reason of `canceled`.
 */
export async function warmUp(tasks: readonly WarmUp[], canceled: AbortSignal): Promise<void> {
  if (tasks.length === 0) return;
  const late = new ConfigError('WARM_UP', '', `did not finish within ${WARM_UP_MS / 1000} s`);
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(late), WARM_UP_MS);
  const cancel = (): void => stop.abort(canceled.reason);
  canceled.addEventListener('abort', cancel);
  if (canceled.aborted) cancel();
  try {
    const settled = await Promise.allSettled(
      tasks.map((task) => untilAborted(started(task, stop.signal), stop.signal)),
    );
    canceled.throwIfAborted();
    const failures = settled.flatMap((each) => (each.status === 'rejected' ? [toFailure(each.reason)] : []));
    if (failures.length > 0) throw new ConfigErrors(failures);
  } finally {
    clearTimeout(timer);
    canceled.removeEventListener('abort', cancel);
  }
}

/** A task may throw before it returns a promise. A task whose signal has already been aborted is not started. */
async function started(task: WarmUp, signal: AbortSignal): Promise<void> {
  await null;
  if (!signal.aborted) await task(signal);
}

function toFailure(error: unknown): ConfigError {
  if (error instanceof ConfigError) return error;
  return new ConfigError('WARM_UP', '', error instanceof GatewayError ? error.message : String(error), {
    cause: error,
  });
}
