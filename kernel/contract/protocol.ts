import type { PipeRequest } from './message.ts';
import type { Step } from './step.ts';

/**
 * How a backend is reached. The step gets the finished request and answers with a raw reply: status, headers and body
 * as the backend gave them, or a failed reply with a `BackendError`.
 */
export interface Protocol {
  readonly call: Step<PipeRequest>;
  /** The backend carries its own address: `host` is not needed and not used. Default false. */
  readonly hostless?: true;
}
