/** Failures of one address and when they began. */
interface Failures {
  count: number;
  /** Start of the counted period on the monotonic clock, in milliseconds. */
  readonly since: number;
}

const MOST = 10;
const WINDOW_MS = 60_000;
/** Maximum addresses remembered; beyond it the address with the oldest failure is forgotten. */
const MAX_ADDRESSES = 10_000;

/** Counts failed authentication attempts by address. */
export interface FailureCounter {
  /** Seconds until the address may try again; 0 when it may try now. */
  waitSeconds(address: string): number;
  /** @returns true when this failure used up the address's last attempt. */
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
