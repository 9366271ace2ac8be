import type { Clock, Log } from '#contract';

const PAUSE_MS = 1000;

/** Creates a function that logs a warning at most once a second: clients control how often it is triggered. */
export function limitedWarning(log: Log, clock: Clock): (message: () => string) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (message) => {
    const now = clock.now();
    if (now < quietUntil) return;
    quietUntil = now + PAUSE_MS;
    log.warning(message);
  };
}
