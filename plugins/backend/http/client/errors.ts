/** Failures of a request or its connection, in addition to Node's socket errors. */
export type TransportCode =
  | 'ANSWER_MALFORMED'
  | 'CLIENT_CLOSED'
  | 'CONNECTION_LOST'
  | 'CONNECT_TIMEOUT'
  | 'HEADERS_TIMEOUT'
  | 'HEADERS_TOO_LARGE'
  | 'LENGTH_MISMATCH'
  | 'REQUEST_ABORTED'
  | 'REQUEST_INVALID';

/** A request was not sent, or got no valid response. */
export class TransportError extends Error {
  readonly code: TransportCode;

  constructor(code: TransportCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The backend has not processed the request, so it can be repeated regardless of its method. */
export class UnprocessedError extends Error {
  readonly code = 'UNPROCESSED';
  /** Whether the request must be repeated over HTTP/1.1. */
  readonly wantsHttp1: boolean;

  constructor(wantsHttp1 = false) {
    super('the backend did not process the request');
    this.wantsHttp1 = wantsHttp1;
  }
}

/** Error for a response that is no longer needed, or a request body that was cut off. */
export function aborted(): TransportError {
  return new TransportError('REQUEST_ABORTED', 'request aborted');
}

export function connectionLost(): TransportError {
  return new TransportError('CONNECTION_LOST', 'connection closed by the other side');
}

export function clientClosed(): TransportError {
  return new TransportError('CLIENT_CLOSED', 'the connection pool of the backend is closed');
}

export function invalidRequest(reason: string): TransportError {
  return new TransportError('REQUEST_INVALID', reason);
}

/** Error for an invalid HTTP/1.1 response. */
export function malformedAnswer(reason: string): TransportError {
  return new TransportError('ANSWER_MALFORMED', reason);
}

export function headersTooLarge(): TransportError {
  return new TransportError('HEADERS_TOO_LARGE', 'headers too large');
}

/** Error for a request body whose length differs from the announced one. */
export function lengthMismatch(): TransportError {
  return new TransportError('LENGTH_MISMATCH', 'request body does not have the announced length');
}
