import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { atEndOfTurn } from '#contract';
import type { AnswerHandler, Attempt } from '../answer-handler.ts';
import { connectionLost, headersTooLarge, malformedAnswer, UnprocessedError } from '../errors.ts';
import type { Sending } from '../sending.ts';
import { isInterim } from '../status.ts';
import { AnswerHead, CHUNKED, isHopeless, UNTIL_CLOSE } from './answer-head.ts';
import { ChunkedBody } from './chunks.ts';
import { expectsBody, requestHead } from './request-head.ts';
import { StreamBody } from './stream-body.ts';

/** Maximum size of a response head, in bytes. */
const MAX_HEAD_BYTES = 1024 * 1024;
/** Size up to which an incomplete head is checked each time more of it arrives, in bytes. */
const LOOKED_AT_BYTES = 1024;
/** Maximum number of interim responses. */
const MAX_INTERIM = 32;
/** Maximum size of a request body that is written together with its head, in bytes. */
const MAX_JOINED_BYTES = 16 * 1024;

const CR = 13;
const LF = 10;
const headEnd = Buffer.from('\r\n\r\n');

/** Connection that carries a request. */
export interface Carrier {
  readonly socket: Socket;
  /** Host such as `host:port`. */
  readonly host: string;
  /**
   * Called when the response is complete or has failed.
   * @param isReusable whether another request can follow.
   * @param keepAlive value of the response's `Keep-Alive`; null if it is missing.
   */
  finished(isReusable: boolean, keepAlive: string | null): void;
}

/** One request and its response on a connection. */
export class RoundTrip implements Attempt {
  /** Head of the response, once it has arrived. */
  head: AnswerHead | null = null;
  rawTrailers: string[] | null = null;
  paused = false;
  readonly #connection: Carrier;
  readonly #handler: AnswerHandler;
  readonly #sending: Sending;
  /** Bytes of an incomplete head. */
  #held: Buffer | null = null;
  #heldBytes = 0;
  /** Number of bytes at which an incomplete head is checked next. */
  #lookAtBytes = 0;
  #interim = 0;
  #hasStarted = false;
  /** Remaining bytes of the body, or `CHUNKED`, or `UNTIL_CLOSE`. */
  #left = 0;
  #chunks: ChunkedBody | null = null;
  #body: StreamBody | null = null;
  #isWritten = false;
  #isSent = false;
  #isLast: boolean;
  #isOver = false;

  constructor(connection: Carrier, sending: Sending, handler: AnswerHandler) {
    this.#connection = connection;
    this.#sending = sending;
    this.#handler = handler;
    const { method, body, isLast } = sending;
    // The connection is closed after a HEAD request, because the server may send a body anyway, and after a body that
    // the method does not require, because the server may not read it: these bytes must not be interpreted as the start
    // of another message.
    this.#isLast = isLast || method === 'HEAD' || (body !== null && !expectsBody(method));
  }

  send(): void {
    this.#handler.onRequestStart(this);
    if (this.#isOver) return;
    try {
      this.#write();
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  pause(): void {
    if (this.paused || this.#isOver) return;
    this.paused = true;
    this.#connection.socket.pause();
  }

  resume(): void {
    if (!this.paused || this.#isOver) return;
    this.paused = false;
    this.#connection.socket.resume();
  }

  /** Aborts the request, and closes the connection if part of the request was written. */
  abort(reason: Error): void {
    if (this.#isOver) return;
    this.#fail(reason);
  }

  /** Called when the socket is ready for more data. */
  drained(): void {
    this.#body?.drained();
  }

  /** Processes bytes of the response, without keeping a reference to them. */
  read(bytes: Buffer, length: number): void {
    if (this.#isOver) return;
    if (!this.#isWritten) {
      // A response before the request was sent cannot belong to it.
      this.#isLast = true;
      return this.#fail(new UnprocessedError());
    }
    try {
      if (!this.#hasStarted) {
        this.#hasStarted = true;
        this.#handler.onResponseStarted();
      }
      if (this.head !== null) this.#readBody(bytes, 0, length);
      else if (this.#held === null) this.#readHead(bytes, 0, length);
      else this.#hold(bytes, 0, length);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  /** Called when the connection has closed. @param error null for an orderly end. */
  closed(error: Error | null): void {
    if (this.#isOver) return;
    if (!this.#isWritten) this.#fail(new UnprocessedError());
    else if (error === null && this.head !== null && this.#left === UNTIL_CLOSE) this.#end();
    else this.#fail(error ?? connectionLost());
  }

  #write(): void {
    const { body, length } = this.#sending;
    const head = requestHead(this.#sending, this.#connection.host, !this.#isLast);
    if (body !== null && !(body instanceof Uint8Array)) return this.#stream(head, body, length);
    atEndOfTurn(() => {
      if (!this.#isOver) this.#writeWhole(head, body);
    });
  }

  #writeWhole(head: string, body: Uint8Array | null): void {
    const { socket } = this.#connection;
    this.#isWritten = true;
    if (body === null) {
      socket.write(`${head}\r\n`, 'latin1');
    } else if (body.length <= MAX_JOINED_BYTES) {
      const joined = Buffer.allocUnsafe(head.length + 2 + body.length);
      joined.write(`${head}\r\n`, 'latin1');
      joined.set(body, head.length + 2);
      socket.write(joined);
    } else {
      socket.cork();
      socket.write(`${head}\r\n`, 'latin1');
      socket.write(body);
      socket.uncork();
    }
    this.#sent();
  }

  #stream(head: string, body: Readable, length: number | undefined): void {
    this.#isWritten = true;
    this.#body = new StreamBody(this.#connection.socket, head, body, length, (error) => {
      if (error !== null) return this.abort(error);
      this.#sent();
    });
  }

  #sent(): void {
    this.#isSent = true;
    if (!this.#isOver) this.#handler.onRequestSent();
  }

  #readHead(bytes: Buffer, from: number, to: number): void {
    let at = from;
    while (true) {
      // Line ends before a head are skipped, because some servers send one too many after a body.
      while (at < to && (bytes[at] === CR || bytes[at] === LF)) at += 1;
      const end = bytes.subarray(0, to).indexOf(headEnd, at);
      if (end < 0) return this.#hold(bytes, at, to);
      if (end - at > MAX_HEAD_BYTES) throw headersTooLarge();
      const head = new AnswerHead(bytes, at, end + 2);
      at = end + 4;
      if (!isInterim(head.status)) return this.#begin(head, bytes, at, to);
      // An interim response can be the last message on a connection.
      this.#isLast ||= head.isLast;
      this.#interim += 1;
      if (this.#interim > MAX_INTERIM) throw malformedAnswer('too many informational responses');
    }
  }

  /** Stores an incomplete head. */
  #hold(bytes: Buffer, from: number, to: number): void {
    const size = to - from;
    if (this.#held === null || bytes === this.#held) {
      // Only this head is copied, because the bytes before it are no longer needed.
      this.#held = size === 0 ? null : Buffer.from(bytes.subarray(from, to));
      this.#heldBytes = size;
      if (size > 0) this.#readHeld(0);
      return;
    }
    const before = this.#heldBytes;
    if (before + size > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.#held.length, before + size, 1024));
      this.#held.copy(larger, 0, 0, before);
      this.#held = larger;
    }
    bytes.copy(this.#held, before, from, to);
    this.#heldBytes = before + size;
    this.#readHeld(before);
  }

  #readHeld(before: number): void {
    const held = this.#held!;
    const length = this.#heldBytes;
    if (held.subarray(0, length).indexOf(headEnd, Math.max(0, before - 3)) >= 0) return this.#readHead(held, 0, length);
    if (length > MAX_HEAD_BYTES) throw headersTooLarge();
    // A long head is parsed again only when its size has doubled, so that a server that sends slowly does not cause
    // more work.
    if (length < this.#lookAtBytes) return;
    this.#lookAtBytes = length < LOOKED_AT_BYTES ? length + 1 : 2 * length;
    if (isHopeless(held.subarray(0, length))) throw malformedAnswer('not HTTP/1.1');
  }

  #begin(head: AnswerHead, bytes: Buffer, from: number, to: number): void {
    const { status } = head;
    this.head = head;
    this.#held = null;
    const hasBody = this.#sending.method !== 'HEAD' && status !== 204 && status !== 304;
    this.#left = hasBody ? head.length : 0;
    // A 204 response has no body; if its headers declare one, the bytes after it are ignored and the connection is
    // closed.
    const isFollowed = status === 204 && (head.length > 0 || head.length === CHUNKED);
    this.#isLast ||= head.isLast || this.#left === UNTIL_CLOSE || isFollowed;
    this.#handler.onResponseStart(this, status);
    if (this.#isOver) return;
    if (this.#left === CHUNKED) this.#chunks = new ChunkedBody();
    this.#readBody(bytes, from, to);
  }

  #readBody(bytes: Buffer, from: number, to: number): void {
    if (this.#left === CHUNKED) return this.#readChunks(this.#chunks!, bytes, from, to);
    const has = to - from;
    const size = this.#left === UNTIL_CLOSE ? has : Math.min(this.#left, has);
    if (this.#left !== UNTIL_CLOSE) this.#left -= size;
    if (size > 0) {
      const data = Buffer.allocUnsafe(size);
      bytes.copy(data, 0, from, from + size);
      this.#handler.onResponseData(this, data);
      if (this.#isOver) return;
    }
    if (this.#left !== 0) return;
    // The connection is closed if bytes follow the response, because no request asked for them.
    this.#isLast ||= size < has;
    this.#end();
  }

  #readChunks(chunks: ChunkedBody, bytes: Buffer, from: number, to: number): void {
    const data = chunks.read(bytes, from, to);
    if (data.length > 0) this.#handler.onResponseData(this, data);
    if (!chunks.isOver || this.#isOver) return;
    this.rawTrailers = chunks.trailers;
    this.#isLast ||= chunks.at < to;
    this.#end();
  }

  #end(): void {
    this.#finish();
    this.#handler.onResponseEnd(this);
  }

  #fail(error: Error): void {
    this.#isLast ||= this.#isWritten;
    this.#finish();
    this.#handler.onResponseError(this, error);
  }

  #finish(): void {
    this.#isOver = true;
    this.#held = null;
    this.#body?.stop();
    if (this.paused) this.#connection.socket.resume();
    this.#connection.finished(!this.#isLast && this.#isSent === this.#isWritten, this.head?.keepAlive ?? null);
  }
}
