import type { ServiceConfig } from '#contract';

/** How long the port waits for a client, in milliseconds; 0 disables the limit. */
export interface PortTimeouts {
  /** For a whole request. */
  readonly requestMs: number;
  /** For the request line and headers, and for the first bytes of a connection. */
  readonly headMs: number;
  /** For the next request of a connection. */
  readonly idleMs: number;
}

const DEFAULT_HEAD_MS = 10_000;

/** Applies to files that set neither `idle_timeout` nor `read_timeout`. */
const DEFAULT_IDLE_MS = 120_000;

/** Resolves the timeouts that inherit `read_timeout`. */
export function portTimeouts(config: ServiceConfig): PortTimeouts {
  const { read_timeout: whole, read_header_timeout: head = DEFAULT_HEAD_MS, idle_timeout: idle } = config;
  return {
    requestMs: whole,
    // Node ends the whole request first, so the head never takes longer.
    headMs: head > 0 && whole > 0 ? Math.min(head, whole) : head || whole,
    idleMs: idle === undefined ? whole || DEFAULT_IDLE_MS : idle || whole,
  };
}
