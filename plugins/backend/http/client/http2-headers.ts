import { isName, isPath, isValue } from './characters.ts';
import { invalidRequest } from './errors.ts';
import type { Sending } from './sending.ts';

/** Index of the `:authority` value in the list of headers. */
const AUTHORITY = 7;

/**
 * Headers of an HTTP/2 request as alternating names and values: pseudo-headers first, then the others in lowercase.
 * @throws TransportError if a value cannot be sent. Node does not check this, and a backend that forwards over HTTP/1.1
 * would turn line ends into header lines.
 */
export function requestHeaders({ protocol, host }: URL, sending: Sending): string[] {
  const { method, path, body, headers: list } = sending;
  if (!isPath(path)) throw invalidRequest('invalid request path');
  const headers = [':method', method, ':path', path, ':scheme', protocol.slice(0, -1), ':authority', host];
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at]!.toLowerCase();
    const value = list[at + 1]!;
    if (!isName(name) || !isValue(value)) throw invalidRequest('invalid header');
    if (name === 'host') headers[AUTHORITY] = value;
    else if (name !== 'http2-settings') headers.push(name, value);
  }
  if (body instanceof Uint8Array) headers.push('content-length', String(body.length));
  return headers;
}
