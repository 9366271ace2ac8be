import { timerMs } from '#contract';

/** Waits until the delay has passed or the signal is aborted. */
export function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, timerMs(ms));
    timer.unref();
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
