import type { ServiceConfig } from '#contract';

/** Time limits for clients of the port, in milliseconds; 0 disables a limit. */
export interface PortTimeouts {
  /** Time to receive a whole request. */
  readonly requestMs: number;
  /** Time to receive the request line and headers, and the first bytes of a connection. */
  readonly headMs: number;
  /** Maximum time until the next request on a connection. */
  readonly idleMs: number;
}

const DEFAULT_HEAD_MS = 10_000;

/** Default for configurations that set neither `idle_timeout` nor `read_timeout`. */
const DEFAULT_IDLE_MS = 120_000;

/** Resolves the timeouts that inherit `read_timeout`. */
export function portTimeouts(config: ServiceConfig): PortTimeouts {
  const { read_timeout: whole, read_header_timeout: head = DEFAULT_HEAD_MS, idle_timeout: idle } = config;
  return {
    requestMs: whole,
    // Node enforces the limit for the whole request first, so the limit for the head cannot be longer.
    headMs: head > 0 && whole > 0 ? Math.min(head, whole) : head || whole,
    idleMs: idle === undefined ? whole || DEFAULT_IDLE_MS : idle || whole,
  };
}
