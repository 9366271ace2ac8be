import { type ClientHttp2Stream, constants } from 'node:http2';
import type { Connection } from '../../../clients/http2/connection.ts';
import type { AnswerHandler, Attempt } from './answer-handler.ts';
import { aborted, invalidRequest, TransportError, UnprocessedError } from './errors.ts';
import { requestHeaders } from './http2-headers.ts';
import type { Payload } from './payload.ts';
import type { Sending } from './sending.ts';

/** Type of HEADERS frames. */
const HEADERS_FRAME = 1;

/** The response head is too large. A backend that limits the request rate may end a stream with the same code. */
class HeadersError extends Error {
  readonly code = 'HTTP2_HEADERS';

  constructor() {
    super('headers larger than 128 KiB, or the backend requests a lower rate (HTTP/2 code 11)');
  }
}

/** A stream that ended before its response was complete. */
export class StreamError extends Error {
  readonly code = 'HTTP2_STREAM';

  /** @param code HTTP/2 error code. */
  constructor(code: number) {
    super(
      code === constants.NGHTTP2_NO_ERROR ? 'stream ended without a response' : `stream reset (HTTP/2 code ${code})`,
    );
  }
}

/** One request and its response on an HTTP/2 stream, with the same handler interface as HTTP/1.1 connections. */
export class Http2Stream implements Attempt {
  rawHeaders: string[] | null = null;
  rawTrailers: string[] | null = null;
  aborted = false;
  paused = false;
  readonly #connection: Connection;
  readonly #handler: AnswerHandler;
  readonly #closed: (failure: Error | null) => void;
  #stream: ClientHttp2Stream | null = null;
  #bytesBefore = 0;
  #failure: Error | null = null;
  #isUnsent = false;
  #hasAnswer = false;
  #isOver = false;

  /** @param closed called once, when the stream has closed. */
  constructor(connection: Connection, handler: AnswerHandler, closed: (failure: Error | null) => void) {
    this.#connection = connection;
    this.#handler = handler;
    this.#closed = closed;
  }

  /** @param url URL of the address. */
  send(url: URL, sending: Sending): void {
    this.#handler.onRequestStart(this);
    if (this.aborted) return this.#closed(null);
    const { body } = sending;
    this.#bytesBefore = this.#connection.bytesRead;
    try {
      this.#stream = this.#connection.open(requestHeaders(url, sending), { endStream: body === null });
    } catch (error) {
      const failure = this.#unopened(error as NodeJS.ErrnoException);
      this.#closed(failure);
      return this.#fail(failure);
    }
    this.#listen(this.#stream);
    this.#write(this.#stream, body);
  }

  /** Returns the error for a stream that could not be opened. */
  #unopened(error: NodeJS.ErrnoException): Error {
    if (error instanceof TransportError) return error;
    if (!/^ERR_HTTP2_(?:INVALID|GOAWAY)_SESSION$/.test(error.code ?? '')) {
      return invalidRequest(error.message);
    }
    this.#connection.close();
    return new UnprocessedError();
  }

  pause(): void {
    this.paused = true;
    this.#stream?.pause();
  }

  resume(): void {
    this.paused = false;
    this.#stream?.resume();
  }

  /** Closes the stream, but not the connection. */
  abort(reason: Error): void {
    if (this.#isOver) return;
    this.aborted = true;
    const isLate =
      (reason as NodeJS.ErrnoException).code === 'CALL_DEADLINE' ||
      (reason instanceof TransportError && reason.code === 'HEADERS_TIMEOUT');
    if (isLate && this.#connection.bytesRead === this.#bytesBefore) this.#connection.suspect();
    this.#stream?.close(constants.NGHTTP2_CANCEL);
    this.#fail(reason);
  }

  #listen(stream: ClientHttp2Stream): void {
    stream.once('response', (headers, _flags, raw: string[]) => this.#begin(stream, headers[':status'] ?? 0, raw));
    stream.once('trailers', (_headers, _flags, raw: string[]) => {
      this.rawTrailers = raw;
    });
    stream.once('end', () => this.#end(stream));
    stream.on('frameError', (type: number) => {
      this.#isUnsent ||= type === HEADERS_FRAME;
    });
    stream.on('error', (error) => {
      this.#failure ??= error;
    });
    stream.once('close', () => {
      const failure = this.#isOver ? null : this.#problem(stream);
      this.#connection.leave();
      this.#closed(failure);
      if (failure) this.#fail(failure);
    });
  }

  #begin(stream: ClientHttp2Stream, status: number, raw: string[]): void {
    if (this.#isOver) return;
    this.#hasAnswer = true;
    this.rawHeaders = raw;
    this.#handler.onResponseStarted();
    this.#handler.onResponseStart(this, status);
    stream.on('data', (chunk: Buffer) => {
      if (!this.#isOver) this.#handler.onResponseData(this, chunk);
    });
    if (this.paused) stream.pause();
  }

  #end(stream: ClientHttp2Stream): void {
    if (this.#isOver || !this.#hasAnswer) return;
    // Node also emits `end` for a partial response whose stream was reset, which is not a complete response.
    if (stream.rstCode) return;
    this.#isOver = true;
    // If the response ended before the request was sent completely, the rest of the request is not needed.
    if (!stream.writableFinished) stream.close(constants.NGHTTP2_CANCEL);
    this.#handler.onResponseEnd(this);
  }

  #problem(stream: ClientHttp2Stream): Error {
    const { rstCode = constants.NGHTTP2_NO_ERROR } = stream;
    if (!this.#hasAnswer) {
      if (this.#isUnsent || this.#connection.hasLeftOut(stream)) return new UnprocessedError();
      if (rstCode === constants.NGHTTP2_HTTP_1_1_REQUIRED) return new UnprocessedError(true);
      if (rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM) {
        // The connection accepts no further requests, because Node would fail it on the remaining header frames.
        this.#connection.close();
        return new HeadersError();
      }
    }
    return (
      this.#connection.failure ??
      (rstCode === constants.NGHTTP2_NO_ERROR ? this.#failure : null) ??
      new StreamError(rstCode)
    );
  }

  #fail(failure: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onResponseError(this, failure);
  }

  #write(stream: ClientHttp2Stream, body: Payload): void {
    const sent = () => this.#handler.onRequestSent();
    if (body === null) return sent();
    stream.once('finish', sent);
    if (body instanceof Uint8Array) {
      stream.end(body);
      return;
    }
    if (body.destroyed) return this.abort(body.errored ?? aborted());
    body.on('data', (chunk: Uint8Array) => {
      if (stream.writable && !stream.write(chunk)) body.pause();
    });
    stream.on('drain', () => body.resume());
    body.once('end', () => stream.end());
    body.on('error', (error) => this.abort(error));
    body.once('close', () => body.readableEnded || this.abort(body.errored ?? aborted()));
    stream.once('close', () => body.destroy());
  }
}
