/** Time and random values of code whose results must be repeatable, such as the repetition of a recorded request. */
export interface Frozen {
  /** Time of day, in milliseconds since 1970. */
  readonly now: number;
  /** ID of the request, if it is known. */
  readonly requestId?: string | undefined;
  /** ID of the trace of the request, if it is known. */
  readonly traceId?: string | undefined;
  /** Returns random bytes: the same ones for the same series of calls with a kind. */
  bytes(kind: string, count: number): Buffer;
}

let find: (() => Frozen | undefined) | null = null;

/** The frozen values of the running code; undefined for code that uses the clock and random numbers of the system. */
export function frozen(): Frozen | undefined {
  return find?.();
}

/** Defines which code has frozen values. @param finder null for none. */
export function findFrozen(finder: (() => Frozen | undefined) | null): void {
  find = finder;
}
