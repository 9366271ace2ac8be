import type { IncomingMessage } from 'node:http';
import { hasTooManyParameters } from '#contract';
import { dropConnectionHeaders } from '../../pipeline/request/request.ts';

/** Maximum number of headers in a request, in addition to the limit on their total size. */
const HEADER_LIMIT = 2000;

/** Whether a `Content-Length` is a decimal integer that can be represented exactly. */
export function isLength(text: string): boolean {
  return /^\d+$/.test(text) && Number.isSafeInteger(Number(text));
}

const authority = /^[\w.\-:[\]%~!$&'()*+,;=]*$/;

/**
 * Checks for heads that the parser accepts but another parser could read differently: versions without framing rules,
 * unknown transfer codings, multiple `Host` headers.
 *
 * @returns the status to reject the request with; 0 for a valid head.
 */
export function inspectHead(message: IncomingMessage): number {
  const { rawHeaders, httpVersion } = message;
  const isOld = httpVersion === '1.0';
  if (!isOld && httpVersion !== '1.1') return 505;
  if (rawHeaders.length > 2 * HEADER_LIMIT) return 431;
  if (hasTooManyParameters(message.url!)) return 414;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4) {
      if (name.toLowerCase() !== 'host') continue;
      if (++hosts > 1 || !authority.test(rawHeaders[at + 1]!)) return 400;
    } else if (name.length === 14 && name.toLowerCase() === 'content-length') {
      if (!isLength(rawHeaders[at + 1]!)) return 400;
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      if (isOld || message.headers['content-length'] !== undefined) return 400;
      if (rawHeaders[at + 1]!.toLowerCase() !== 'chunked') return 501;
    }
  }
  return hosts === 0 && !isOld ? 400 : 0;
}

/** Removes the headers listed in `Connection`: they apply only to this connection. */
export function dropNamed({ rawHeaders, headers }: IncomingMessage): void {
  const dropped = dropConnectionHeaders(rawHeaders);
  if (dropped) for (const name of dropped) delete headers[name];
}
