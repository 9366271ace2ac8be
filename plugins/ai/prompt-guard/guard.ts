import { type Call, definePort, type HeaderBag, type Params, type Port, type Query } from '#contract';
import type { Severity } from './schema.ts';

/** The parts of a request that guards examine. */
export interface Guarded {
  readonly method: string;
  /** Undecoded path that the client requested. */
  readonly path: string;
  /** Undecoded query without `?`. */
  readonly search: string;
  readonly headers: HeaderBag;
  readonly params: Params;
  readonly query: Query;
  readonly body: Uint8Array;
}

/**
 * Check of a guard that evaluates a policy or calls a server. Guards with regular expressions have none: all their
 * expressions are matched together.
 */
export type Check = (request: Guarded, call: Call) => string | null | Promise<string | null>;

/** A guard that the root declares. */
export interface CustomGuard {
  readonly name: string;
  readonly severity: Severity;
  readonly kind: 'regex' | 'classifier' | 'policy';
  /** Expressions of a guard of the kind `regex`; empty for other kinds. */
  readonly patterns: readonly string[];
  /** Reason for which the request is blocked; null passes it. Undefined for a guard of the kind `regex`. */
  readonly check?: Check;
}

/** The guards of the root, by name. */
export const customGuards: Port<ReadonlyMap<string, CustomGuard>> = definePort('prompt guards');
