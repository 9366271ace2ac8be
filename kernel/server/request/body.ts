import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CallError, RequestBody } from '#contract';
import type { Route } from '../../pipeline/compile/route.ts';
import { beforeFirstRead } from '../port/internals.ts';
import { ClientBody } from './client-body.ts';
import { PassingBytes } from './passing-bytes.ts';

/** Longest inflated request body when no limit is set, in bytes. */
export const INFLATED_LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * Returns the body of a client's request; null when it has none.
 * @param keepBytes maximum number of bytes to buffer if other code reads the body first; 0 if no other code does.
 */
export function receiveBody(message: IncomingMessage, response: ServerResponse, keepBytes = 0): ClientBody | null {
  const { headers } = message;
  const length = headers['content-length'];
  if (length === '0') return null;
  if (length === undefined && headers['transfer-encoding'] === undefined) {
    if (message.httpVersionMajor < 2 || (message as { stream?: { endAfterHeaders?: boolean } }).stream?.endAfterHeaders)
      return null;
  }
  return new ClientBody(message, response, keepBytes > 0 ? new PassingBytes(message, keepBytes) : null);
}

/** Applies an endpoint's limits to a client's body. */
export function limitBody(
  source: ClientBody,
  message: IncomingMessage,
  route: Pick<Route, 'maxPayloadBytes' | 'maxParsedBytes' | 'inflate'>,
): RequestBody {
  const { headers } = message;
  const { maxPayloadBytes, maxParsedBytes } = route;
  const codings = headers['content-encoding']?.split(',').map((coding) => coding.trim());
  if (!route.inflate || codings?.[0]?.toLowerCase() !== 'gzip')
    return RequestBody.stream(source, source.length, maxPayloadBytes, maxParsedBytes);
  dropCoding(message, codings.slice(1));
  return RequestBody.stream(inflated(source), undefined, maxPayloadBytes || INFLATED_LIMIT_BYTES, maxParsedBytes);
}

/** Adjusts the headers to a body that is passed on decompressed. */
function dropCoding(message: IncomingMessage, rest: readonly string[]): void {
  const { rawHeaders } = message;
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (name === 'content-encoding' || name === 'content-length') rawHeaders.splice(at, 2);
  }
  if (rest.length > 0) rawHeaders.push('Content-Encoding', rest.join(', '));
}

/** Decompresses a stream. The source is not read until the result is. */
function inflated(source: Readable): Readable {
  const output = new PassThrough({
    destroy: (error, done) => done(error === null || error instanceof CallError ? error : invalidGzip()),
  });
  output.on('error', ignored);
  beforeFirstRead(output, () => pipeline(source, createGunzip(), output, ignored));
  return output;
}

function invalidGzip(): CallError {
  return new CallError('REQUEST_GZIP', 'request body is not valid gzip', { view: { status: 400 } });
}

/** Ignores the error, because the stream reports it to its reader. */
function ignored(): void {}
