import { errors } from 'undici';
import type { Sending } from './dispatch-options.ts';

/** Node checks none of these, and a backend that speaks HTTP/1.1 to others would pass them on as lines of their own. */
const isName = /^[!#$%&'*+\-.^_`|~\da-z]+$/;
const isNoValue = /[^\t\x20-\x7e\x80-\xff]/;
const isNoPath = /[^\x21-\xff]/;

/** At which the authority stands. */
const AUTHORITY = 7;

/**
 * The headers of a request as HTTP/2 has them, names and values in turn: where it goes first, then the others in lower case.
 * @throws InvalidArgumentError for what no wire can carry.
 */
export function requestHeaders({ protocol, host }: URL, sending: Sending): string[] {
  const { method, path, body, headers: list } = sending;
  if (isNoPath.test(path)) throw new errors.InvalidArgumentError('invalid request path');
  const headers = [':method', method, ':path', path, ':scheme', protocol.slice(0, -1), ':authority', host];
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at]!.toLowerCase();
    const value = list[at + 1]!;
    if (!isName.test(name) || isNoValue.test(value)) throw new errors.InvalidArgumentError('invalid header');
    if (name === 'host') headers[AUTHORITY] = value;
    else if (name !== 'http2-settings') headers.push(name, value);
  }
  if (body instanceof Uint8Array) headers.push('content-length', String(body.length));
  return headers;
}
