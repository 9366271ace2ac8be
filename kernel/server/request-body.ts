import type { IncomingMessage } from 'node:http';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CallError, PayloadTooLarge, RequestBody } from '#contract';
import type { Route } from '../pipeline/route.ts';

/** Longest inflated request body when no limit is set, in bytes (decision 23). */
const INFLATED_LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * The body of a client's request under an endpoint's limits (proxy rules 19 and 20); null when there is none.
 * @throws PayloadTooLarge at once when the declared length is over the limit.
 */
export function openBody(
  message: IncomingMessage,
  route: Pick<Route, 'maxPayloadBytes' | 'inflate'>,
): RequestBody | null {
  const { headers } = message;
  const declared = headers['content-length'];
  if (declared === undefined && headers['transfer-encoding'] === undefined) {
    if (message.httpVersionMajor < 2 || (message as { stream?: { endAfterHeaders?: boolean } }).stream?.endAfterHeaders)
      return null;
  }
  const length = declared === undefined ? undefined : Number(declared);
  if (length === 0) return null;
  const { maxPayloadBytes } = route;
  if (maxPayloadBytes > 0 && length !== undefined && length > maxPayloadBytes)
    throw new PayloadTooLarge(maxPayloadBytes);
  const codings = headers['content-encoding']?.split(',').map((coding) => coding.trim());
  if (!route.inflate || codings?.[0]?.toLowerCase() !== 'gzip')
    return RequestBody.stream(message, length, maxPayloadBytes);
  dropCoding(message, codings.slice(1));
  return RequestBody.stream(inflated(message), undefined, maxPayloadBytes || INFLATED_LIMIT_BYTES);
}

/** The body is handed on inflated: the headers must not say otherwise. */
function dropCoding(message: IncomingMessage, rest: readonly string[]): void {
  const { rawHeaders } = message;
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (name === 'content-encoding' || name === 'content-length') rawHeaders.splice(at, 2);
  }
  if (rest.length > 0) rawHeaders.push('Content-Encoding', rest.join(', '));
}

function inflated(message: IncomingMessage): Readable {
  const output = new PassThrough();
  pipeline(message, createGunzip(), output, (error) => {
    if (error)
      output.destroy(new CallError('REQUEST_GZIP', 'request body is not valid gzip', { view: { status: 400 } }));
  });
  return output;
}
