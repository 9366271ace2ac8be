import type { Call } from './call.ts';
import type { PipeRequest } from './message.ts';

/** Condition for calling a backend. */
export interface BackendCondition {
  /**
   * Evaluates the endpoint's request; must be synchronous and must not throw. Evaluated before any backend is called,
   * or in a sequence when it is the backend's turn. Null: the condition holds if no other condition of the list does.
   */
  readonly holds: ((request: PipeRequest, call: Call) => boolean) | null;
  /** The condition in words, for `explain`. */
  readonly inWords?: string;
}
