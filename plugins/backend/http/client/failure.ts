import { BackendError, CallError, CancelledError } from '#contract';
import { idempotent } from '../../../shared/retries/idempotent.ts';
import { isSocketAddress } from './socket-address.ts';

/**
 * Maps the error of a failed exchange. Codes: `BACKEND_REFUSED`, `BACKEND_RESET`, `BACKEND_UNREACHABLE`, `BACKEND_DNS`,
 * `BACKEND_TLS`, `BACKEND_CONNECT_TIMEOUT`, `BACKEND_HEADER_TIMEOUT`, `BACKEND_MALFORMED`, `BACKEND_PROXY`,
 * `BACKEND_REQUEST_INVALID`, `BACKEND_DENIED`, `BACKEND_FAILED`. Messages contain the host and the reason, but never
 * the path, query or credentials.
 * @param proxied whether the connection is made to a proxy, so that a connection failure is the proxy's.
 */
export function failureOf(error: Error, origin: string, proxied = false): CallError {
  if (error instanceof CallError) return error;
  const code = codeOf(error);
  const to = withoutUser(origin);
  const make = (kind: string, reason: string) =>
    new BackendError(`BACKEND_${kind}`, `backend ${to}: ${reason}`, { cause: error });
  if (proxied && isConnecting(code)) return make('PROXY', 'cannot connect to the proxy');
  switch (code) {
    case 'ECONNREFUSED':
      return make('REFUSED', 'connection refused');
    case 'ENOENT':
      return make('REFUSED', 'the Unix socket does not exist');
    case 'ECONNRESET':
    case 'EPIPE':
    case 'CONNECTION_LOST':
    case 'UND_ERR_SOCKET':
      return make('RESET', 'connection closed before the response was complete');
    case 'UNPROCESSED':
    case 'HTTP2_STREAM':
      return make('RESET', error.message);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
    case 'EACCES':
      return make('UNREACHABLE', isSocketAddress(origin) ? 'permission denied' : 'no route to host');
    case 'EMFILE':
    case 'ENFILE':
      return make('FAILED', `out of file descriptors (${code})`);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAI_FAIL':
    case 'ENODATA':
      return make('DNS', 'host name cannot be resolved');
    case 'ETIMEDOUT':
    case 'CONNECT_TIMEOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return make('CONNECT_TIMEOUT', 'connection timed out');
    case 'HEADERS_TIMEOUT':
      return make('HEADER_TIMEOUT', 'no response headers in time');
    case 'ANSWER_MALFORMED':
    case 'HTTP2_HEADERS':
      return malformed(origin, error.message, error);
    case 'HEADERS_TOO_LARGE':
    case 'UND_ERR_HEADERS_OVERFLOW':
      return malformed(origin, 'headers too large', error);
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return malformed(origin, 'the body does not have the length in Content-Length', error);
    case 'LENGTH_MISMATCH':
    case 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH':
      return make('REQUEST_INVALID', 'request body does not have the announced length');
    case 'REQUEST_INVALID':
      return make('REQUEST_INVALID', `request cannot be sent: ${error.message}`);
    case 'UND_ERR_INVALID_ARG':
    case 'UND_ERR_NOT_SUPPORTED':
      return /proxy/i.test(error.message)
        ? make('PROXY', error.message)
        : make('REQUEST_INVALID', `request cannot be sent: ${error.message}`);
    case 'UND_ERR_PRX_TLS':
    case 'UND_ERR_PRX_CONN':
    case 'UND_ERR_ABORTED':
      return make('PROXY', 'cannot connect through the proxy');
  }
  if (error.name === 'HTTPParserError') return malformed(origin, 'not HTTP/1.1', error);
  if (code === 'ERR_HTTP2_ERROR') {
    return malformed(origin, /CONTINUATION/.test(error.message) ? 'headers too large' : 'not HTTP/2', error);
  }
  if (code.startsWith('ERR_HTTP2') || code === 'HTTP2_CLOSED')
    return make('RESET', 'connection closed before the response was complete');
  if (code.startsWith('UND_ERR_SOCKS5')) return make('PROXY', 'cannot connect through the proxy');
  if (isTls(code)) return make('TLS', `TLS failed: ${(error as { reason?: string }).reason ?? tlsText(error, code)}`);
  return make('FAILED', code || 'request failed');
}

/** Whether a request can be repeated because the established connection that it used was lost. */
export function isRepeatable(method: string, error: Error): boolean {
  if (!idempotent.has(method)) return false;
  return /^(?:CONNECTION_LOST|UND_ERR_SOCKET|ECONNRESET|EPIPE|HTTP2_CLOSED)$/.test(
    (error as NodeJS.ErrnoException).code ?? '',
  );
}

/** Error for an invalid HTTP/1.1 response. Code: `BACKEND_MALFORMED`. */
export function malformed(origin: string, reason: string, cause?: Error): BackendError {
  return new BackendError('BACKEND_MALFORMED', `backend ${withoutUser(origin)}: malformed response: ${reason}`, {
    cause,
  });
}

/** Error of a call whose request body failed: the body's own error, or a cancellation because the client disconnected. */
export function bodyFailure(error: Error): CallError {
  return error instanceof CallError ? error : new CancelledError();
}

function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === 'string') return code;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  return first instanceof Error && first !== error ? codeOf(first) : '';
}

function isConnecting(code: string): boolean {
  return /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|CONNECT_TIMEOUT|UND_ERR_CONNECT_TIMEOUT)$/.test(
    code,
  );
}

function isTls(code: string): boolean {
  return (
    code === 'EPROTO' ||
    /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH)/.test(
      code,
    )
  );
}

function tlsText(error: Error, code: string): string {
  return code === 'EPROTO' || code.startsWith('ERR_SSL') ? 'handshake refused' : error.message;
}

/** Removes the user name and password from an address. */
export function withoutUser(address: string): string {
  return address.includes('@') ? address.replace(/^([a-z][a-z\d+.-]*:\/\/)?[^/@]*@/i, '$1') : address;
}
