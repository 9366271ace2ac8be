import { isName, isPath, isValue } from './characters.ts';
import { invalidRequest } from './errors.ts';
import type { Sending } from './sending.ts';

/** At which the authority stands. */
const AUTHORITY = 7;

/**
 * The headers of a request as HTTP/2 has them, names and values in turn: where it goes first, then the others in lower case.
 * @throws TransportError for what no wire can carry: Node checks none of it, and a backend that speaks HTTP/1.1 to others would
 * pass it on as lines of its own.
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
