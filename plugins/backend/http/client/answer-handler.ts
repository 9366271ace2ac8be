/** A running request, as seen by the receiver of its response. */
export interface Attempt {
  /** Response headers as alternating names and values; unset if the connection reads them into `Fields` itself. */
  readonly rawHeaders?: unknown;
  /** Trailers as alternating names and values. */
  readonly rawTrailers?: unknown;
  /** Pauses reading of the body. */
  pause(): void;
  resume(): void;
  /** Aborts the request because its response is no longer needed. */
  abort(reason: Error): void;
}

/** Receives the events of a request, in the order below. A failure can occur at any time; no event follows the end or a failure. */
export interface AnswerHandler {
  /** Called when a connection has been assigned. */
  onRequestStart(attempt: Attempt): void;
  /** Called when the request has been sent completely. */
  onRequestSent(): void;
  /** Called when the first bytes of a response have arrived. */
  onResponseStarted(): void;
  onResponseStart(attempt: Attempt, status: number): void;
  onResponseData(attempt: Attempt, chunk: Buffer): void;
  onResponseEnd(attempt: Attempt): void;
  /** @param attempt null if no connection was ever assigned. */
  onResponseError(attempt: Attempt | null, error: Error): void;
}
