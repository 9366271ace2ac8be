import type { Call } from './call.ts';
import type { PipeRequest } from './message.ts';

/** Whether a backend is called for a request. */
export interface BackendCondition {
  /**
   * Looks at the request of the endpoint; must not wait nor throw. In a sequence it is asked when it is the backend's turn, else
   * before any backend is called. Null: true where no other condition of the list holds.
   */
  readonly holds: ((request: PipeRequest, call: Call) => boolean) | null;
}
