import { isName, isPath, isValue } from '../characters.ts';
import { invalidRequest } from '../errors.ts';
import type { Sending } from '../sending.ts';

/** Methods for which servers expect a body. Without one, `Content-Length: 0` is sent. */
const withBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH']);

export function expectsBody(method: string): boolean {
  return withBody.has(method);
}

/**
 * Head of a request up to its last header, to be encoded as Latin-1, without the final empty line.
 * @param host host of the address, used if the request has no `Host` of its own.
 * @param keepsAlive whether another request may follow.
 * @throws TransportError if a value cannot be sent.
 */
export function requestHead({ method, path, headers, body }: Sending, host: string, keepsAlive: boolean): string {
  if (!isName(method)) throw invalidRequest('invalid request method');
  if (!isPath(path)) throw invalidRequest('invalid request path');
  let lines = '';
  let ownHost = host;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    const value = headers[at + 1]!;
    if (!isName(name)) throw invalidRequest('invalid header name');
    if (!isValue(value)) throw invalidRequest(`invalid ${name} header`);
    if (name === 'Host') ownHost = value;
    else lines += `${name}: ${value}\r\n`;
  }
  if (body instanceof Uint8Array) lines += `Content-Length: ${body.length}\r\n`;
  else if (body === null && withBody.has(method)) lines += 'Content-Length: 0\r\n';
  const connection = keepsAlive ? 'keep-alive' : 'close';
  return `${method} ${path} HTTP/1.1\r\nHost: ${ownHost}\r\nConnection: ${connection}\r\n${lines}`;
}
