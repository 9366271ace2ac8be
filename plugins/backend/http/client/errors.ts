/** What can be wrong with a request or its connection, apart from what Node says of sockets. */
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

/** Why a request was not sent, or not answered. */
export class TransportError extends Error {
  readonly code: TransportCode;

  constructor(code: TransportCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The backend has done nothing with a request: it can be sent once more, whatever its method. */
export class UnprocessedError extends Error {
  readonly code = 'UNPROCESSED';
  /** It is to be sent over HTTP/1.1. */
  readonly wantsHttp1: boolean;

  constructor(wantsHttp1 = false) {
    super('the backend did not process the request');
    this.wantsHttp1 = wantsHttp1;
  }
}

/** Nobody wants the answer, or the body of the request broke off. */
export function aborted(): TransportError {
  return new TransportError('REQUEST_ABORTED', 'request aborted');
}

export function connectionLost(): TransportError {
  return new TransportError('CONNECTION_LOST', 'connection closed by the other side');
}

export function clientClosed(): TransportError {
  return new TransportError('CLIENT_CLOSED', 'the connections are closed');
}

export function invalidRequest(reason: string): TransportError {
  return new TransportError('REQUEST_INVALID', reason);
}

/** What is no answer of HTTP/1.1. */
export function malformedAnswer(reason: string): TransportError {
  return new TransportError('ANSWER_MALFORMED', reason);
}

export function headersTooLarge(): TransportError {
  return new TransportError('HEADERS_TOO_LARGE', 'headers too large');
}

/** The body of a request is longer or shorter than was announced. */
export function lengthMismatch(): TransportError {
  return new TransportError('LENGTH_MISMATCH', 'request body does not have the announced length');
}
