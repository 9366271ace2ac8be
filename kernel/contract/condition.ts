import type { Call } from './call.ts';
import type { PipeRequest } from './message.ts';

/** Condition for calling a backend. */
export interface BackendCondition {
  /**
   * Evaluates the endpoint's request; must be synchronous and must not throw. Evaluated before any backend is called;
   * for sequential backends, right before the backend would be called. Null for a condition that holds if no other
   * condition of the endpoint does.
   */
  readonly holds: ((request: PipeRequest, call: Call) => boolean) | null;
  /** The condition in words, for `explain`. */
  readonly inWords?: string;
}
