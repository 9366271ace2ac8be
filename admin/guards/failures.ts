/** Failures of one address since a moment. */
interface Failures {
  count: number;
  /** Milliseconds, monotonic. */
  readonly since: number;
}

const MOST = 10;
const WINDOW_MS = 60_000;
/** Addresses remembered; beyond it the one that failed first is forgotten. */
const MAX_ADDRESSES = 10_000;

/** Counts failed attempts to come in, by address. */
export interface FailureCounter {
  /** Seconds until the address may try again; 0 when it may now. */
  waitSeconds(address: string): number;
  /** @returns true when it was the last one the address had. */
  add(address: string): boolean;
}

/** @param now milliseconds, monotonic. */
export function createFailureCounter(now: () => number): FailureCounter {
  const failed = new Map<string, Failures>();
  const current = (address: string): Failures | undefined => {
    const failures = failed.get(address);
    if (!failures || now() - failures.since < WINDOW_MS) return failures;
    failed.delete(address);
    return undefined;
  };
  return {
    waitSeconds(address) {
      const failures = current(address);
      if (!failures || failures.count < MOST) return 0;
      return Math.ceil((failures.since + WINDOW_MS - now()) / 1000);
    },
    add(address) {
      let failures = current(address);
      if (!failures) {
        failures = { count: 0, since: now() };
        failed.set(address, failures);
        if (failed.size > MAX_ADDRESSES) failed.delete(failed.keys().next().value!);
      }
      return ++failures.count === MOST;
    },
  };
}
