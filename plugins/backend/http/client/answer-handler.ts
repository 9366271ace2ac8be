/** A request on its way, in the hands of whoever waits for its answer. */
export interface Attempt {
  /** The answer's headers, names and values in turn; where the connection has not read them into `Fields` itself. */
  readonly rawHeaders?: unknown;
  /** What stands behind the body, names and values in turn. */
  readonly rawTrailers?: unknown;
  /** No more of the body, for now. */
  pause(): void;
  resume(): void;
  /** Nobody wants the answer any more. */
  abort(reason: Error): void;
}

/** Is told how a request goes: in this order, of failures at any time, of nothing after the end or a failure. */
export interface AnswerHandler {
  /** It has a connection. */
  onRequestStart(attempt: Attempt): void;
  /** All of it has left. */
  onRequestSent(): void;
  /** The first bytes of an answer have come. */
  onResponseStarted(): void;
  onResponseStart(attempt: Attempt, status: number): void;
  onResponseData(attempt: Attempt, chunk: Buffer): void;
  onResponseEnd(attempt: Attempt): void;
  /** @param attempt null for one that never had a connection. */
  onResponseError(attempt: Attempt | null, error: Error): void;
}
