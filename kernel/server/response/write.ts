import type { ServerResponse } from 'node:http';
import { atEndOfTurn, ByteStream, type Call, CancelledError, type Reply } from '#contract';
import { DeadlineError } from '../../contract/internal.ts';
import type { RenderedReply } from '../../pipeline/response/render.ts';
import { END_MS } from '../http1/upgrade.ts';
import { announce, endWithTrailers, takesTrailers, trailerFields } from './trailers.ts';

/** Receives the progress of writing a response's body. */
export interface Written {
  /** Whether the response is not awaited by middleware: its write can be deferred to the end of the turn. */
  readonly isAlone: boolean;
  /** Number of body bytes written; undefined until any are. */
  bytesOut: number | undefined;
  /** Called when deferred data cannot be written. */
  failed(error: unknown): void;
}

/**
 * Writes a response. A stream is written as it arrives, no faster than the client reads it; if it fails, the connection
 * is closed.
 * @returns a function that ends a stream gracefully; null when the response is already complete.
 */
export function writeReply(
  response: ServerResponse,
  rendered: RenderedReply,
  call: Call | null,
  written: Written,
): (() => void) | null {
  const { status, headers, body, outcome } = rendered;
  if (response.req.method === 'HEAD' && isStreamed(rendered)) {
    // The response has no body for the client, so the rest of the backend's body is not read.
    (body as ByteStream).cancel(new CancelledError());
    written.bytesOut = 0;
    response.writeHead(status, headers).end();
    call?.finish();
    return null;
  }
  const trailers = takesTrailers(response, rendered) ? rendered.trailers! : null;
  if (isStreamed(rendered)) {
    const known = typeof trailers === 'function' || trailers === null ? [] : trailerFields(trailers, outcome).keys();
    if (trailers) announce(response, headers, known);
    return streamReply(response, rendered, call, trailers, written);
  }
  const whole = body instanceof ByteStream ? (body.collect(Number.POSITIVE_INFINITY) as Uint8Array) : body;
  written.bytesOut = whole === null || response.req.method === 'HEAD' ? 0 : Buffer.byteLength(whole);
  const fields = trailers && trailerFields(trailers, outcome, call?.log);
  if (fields !== null && fields.size > 0) {
    // Clients of a protocol with a status in the trailers expect these trailers without an announcement.
    if (outcome === undefined) announce(response, headers, fields.keys());
    response.writeHead(status, headers);
    if (whole !== null && whole.length > 0) response.write(whole);
    endWithTrailers(response, fields, call?.log);
  } else {
    writeWhole(response, status, headers, whole, written.isAlone);
  }
  call?.finish();
  return null;
}

/** Whether the body is written as it arrives: it is incomplete, or declared as a stream. */
export function isStreamed({ body, streams }: RenderedReply): boolean {
  return body instanceof ByteStream && (streams === true || !body.arrived);
}

function writeWhole(
  response: ServerResponse,
  status: number,
  headers: string[],
  body: string | Uint8Array | null,
  isAlone: boolean,
): void {
  const length = body === null ? 0 : Buffer.byteLength(body);
  // The length for HEAD and 304 is that of the body that is not sent.
  if (status !== 204 && status !== 304 && (length > 0 || response.req.method !== 'HEAD')) setLength(headers, length);
  response.writeHead(status, headers);
  if (isAlone) atEndOfTurn(() => endWhole(response, body));
  else endWhole(response, body);
}

function endWhole(response: ServerResponse, body: string | Uint8Array | null): void {
  if (body === null) response.end();
  else if (typeof body !== 'string' && body.length <= ONE_WRITE_BYTES) response.end(asLatin1(body), 'latin1');
  else response.end(body);
}

function asLatin1(bytes: Uint8Array): string {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString('latin1');
}

/**
 * Maximum size of a body that is written as Latin-1 text, byte for byte, so that Node sends it and the headers in one
 * write.
 */
const ONE_WRITE_BYTES = 16 * 1024;

/** Sets the actual length, overriding other values. */
function setLength(headers: string[], length: number): void {
  const text = String(length);
  let isSet = false;
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    if (headers[at]!.length !== 14 || headers[at]!.toLowerCase() !== 'content-length') continue;
    if (!isSet && headers[at + 1] === text) isSet = true;
    else headers.splice(at, 2);
  }
  if (!isSet) headers.push('Content-Length', text);
}

/** Maximum time that a response's head waits for a short body, in milliseconds. */
const HOLD_MS = 5;

/** Whether the body's length is known and small: head and body are sent in one write if the body arrives soon. */
function isShort({ headers, status }: RenderedReply): boolean {
  if (status === 204 || status === 304) return false;
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at]!.length !== 14 || headers[at]!.toLowerCase() !== 'content-length') continue;
    return Number(headers[at + 1]) <= ONE_WRITE_BYTES;
  }
  return false;
}

/**
 * Writes a stream. The call lasts until the response has ended: its deadline applies to the whole stream, even if the
 * client stops reading.
 */
function streamReply(
  response: ServerResponse,
  rendered: RenderedReply,
  call: Call | null,
  trailers: Reply['trailers'],
  written: Written,
): () => void {
  const body = rendered.body as ByteStream;
  let over = false;
  const stop = (error: Error, last: () => void): void => {
    if (over) return;
    over = true;
    call?.finish();
    body.cancel(error);
    last();
  };
  const cut = (error: Error): void =>
    stop(error, () => {
      if (call) logCut(call, call.reason ?? error);
      clearTimeout(timer);
      if (!response.destroyed) open();
      response.destroy();
    });
  /** Chunks held back; null once the head is written. */
  let held: Uint8Array[] | null = [];
  const open = (): void => {
    if (held === null) return;
    const chunks = held;
    held = null;
    clearTimeout(timer);
    response.writeHead(rendered.status, rendered.headers);
    response.flushHeaders();
    for (const chunk of chunks) response.write(chunk);
  };
  /** Logs errors that occur after this function has returned, which would otherwise be lost. */
  const attempt = (write: () => void): void => {
    try {
      write();
    } catch (error) {
      stop(error as Error, () => written.failed(error));
    }
  };
  const timer = isShort(rendered) && !trailers ? setTimeout(attempt, HOLD_MS, open) : undefined;
  if (timer === undefined) open();
  written.bytesOut = 0;
  response.on('drain', () => body.resume());
  body.flow({
    write: (chunk) => {
      written.bytesOut! += chunk.length;
      if (held === null) return response.write(chunk);
      held.push(chunk);
      return true;
    },
    end: () => {
      if (held !== null) {
        clearTimeout(timer);
        const whole = Buffer.concat(held);
        attempt(() => writeWhole(response, rendered.status, rendered.headers, whole, written.isAlone));
      } else if (trailers) endWithTrailers(response, trailerFields(trailers, rendered.outcome, call?.log), call?.log);
      else response.end();
    },
    fail: cut,
  });
  response.once('finish', () => {
    over = true;
  });
  call?.onCancel(cut);
  return () =>
    stop(new CancelledError(), () => {
      open();
      response.end();
      // The connection is closed after a time limit, because the client may never read the pending data.
      const late = setTimeout(() => response.destroy(), END_MS);
      response.once('close', () => clearTimeout(late));
    });
}

/** Logs why a stream ended early. */
function logCut({ log }: Call, reason: Error): void {
  if (reason instanceof DeadlineError) log.warning('stream ended by the timeout of the endpoint');
  else if (reason instanceof CancelledError) log.debug('client disconnected before the end of the stream');
  else log.error(`response ended early: ${reason.message}`);
}
