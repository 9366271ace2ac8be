import type { Clock, Log } from '#contract';

const PAUSE_MS = 1000;

/** Writes a warning at most once a second: clients decide how often there is a reason for one. */
export function limitedWarning(log: Log, clock: Clock): (message: () => string) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (message) => {
    const now = clock.now();
    if (now < quietUntil) return;
    quietUntil = now + PAUSE_MS;
    log.warning(message);
  };
}
