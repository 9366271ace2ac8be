import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServingContext } from './serving-context.ts';

/** Holds what serves now. The swap is one assignment: a request takes `current` once and keeps it to its end. */
export class ServingCell {
  /** Null before the first configuration. */
  current: ServingContext | null = null;
  /** Requests taken so far. */
  requests = 0;

  /** Answers one request by what serves now. */
  readonly serve = (message: IncomingMessage, response: ServerResponse): void => {
    this.requests++;
    this.current!.serve(message, response);
  };
}
