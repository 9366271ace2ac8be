import type { OutgoingHttpHeaders } from 'node:http';
import {
  constants,
  Http2ServerRequest,
  Http2ServerResponse,
  type Http2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import { HeaderBag } from '#contract';
import type { Taken } from '../port/progress.ts';

declare module 'node:http2' {
  interface Http2ServerResponse {
    /** Writes an informational response, since Node.js 24. */
    writeInformation(status: number, headers?: OutgoingHttpHeaders): boolean;
  }
}

/** Connection of each session, because a session does not expose it. */
export const connections = new WeakMap<Http2Session, Duplex>();

/**
 * An HTTP/2 request that reads like an HTTP/1 request: `:authority` is `Host`, cookies are one header, the connection
 * is known for the request's lifetime, and an interrupted body emits an error.
 */
export class Http2Request extends Http2ServerRequest {
  constructor(
    stream: ServerHttp2Stream,
    headers: Http2ServerRequest['headers'],
    options: object | undefined,
    rawHeaders: readonly string[],
  ) {
    super(stream, headers, options as never, asHttp1(rawHeaders, headers[':authority']) as never);
    const host = new HeaderBag(this.rawHeaders).get('host');
    if (host === undefined) delete headers.host;
    else headers.host = host;
    // The TLS or TCP connection, shared with other requests.
    Object.defineProperty(this, 'socket', { value: stream.session && connections.get(stream.session) });
    this.once('aborted', () => this.breakOff());
  }

  /** Fails the body for its reader: the rest will not arrive. */
  breakOff(): void {
    if (!this.readableEnded && this.listenerCount('error') > 0) this.emit('error', new Error('aborted'));
  }
}

/**
 * Converts headers to HTTP/1: without pseudo-headers, with `Host` first, which is present only when it is unambiguous.
 */
function asHttp1(rawHeaders: readonly string[], authority: string | undefined): string[] {
  const list: string[] = [];
  const hosts: string[] = [];
  let cookieAt = -1;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    const value = rawHeaders[at + 1]!;
    if (name.startsWith(':')) continue;
    if (name === 'host') {
      hosts.push(value);
    } else if (name === 'cookie' && cookieAt >= 0) {
      list[cookieAt] += `; ${value}`;
    } else {
      if (name === 'cookie') cookieAt = list.length + 1;
      list.push(name, value);
    }
  }
  const host = authority ?? (hosts.length === 1 ? hosts[0] : undefined);
  if (host !== undefined) list.unshift('host', host);
  return list;
}

/** Headers of HTTP/1 that concern only the connection. */
const DROPPED: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Largest part of a body that is passed to Node at once, in bytes. */
const PIECE_BYTES = 256 * 1024;

/**
 * An HTTP/2 response that is written like an HTTP/1 response. A client can reset its stream between any two calls:
 * later writes are discarded, where Node's own class throws.
 */
export class Http2Response extends Http2ServerResponse {
  #bodiless = false;
  #written = 0;
  #hasTrailers = false;
  #isClosed = false;

  /**
   * Node.js emits `close` for a HEAD request only once its response has been sent, so not when the client resets the
   * stream before.
   */
  constructor(stream: ServerHttp2Stream) {
    super(stream);
    if (this.req.method === 'HEAD') stream.once('close', () => this.#isClosed || this.emit('close'));
  }

  override writeContinue(): void {
    if (!isOver(this)) super.writeContinue();
  }

  override writeEarlyHints(hints: Record<string, string | string[]>): void {
    if (!isOver(this)) super.writeEarlyHints(hints);
  }

  override writeInformation(status: number, headers?: OutgoingHttpHeaders): boolean {
    return !isOver(this) && super.writeInformation(status, headers);
  }

  override createPushResponse(
    headers: OutgoingHttpHeaders,
    done: (error: Error | null, response: Http2ServerResponse) => void,
  ): void {
    if (isOver(this)) process.nextTick(done, new Error('the stream is closed'));
    else super.createPushResponse(headers, done);
  }

  /** Whether trailers are still to be sent after the body. */
  get hasTrailers(): boolean {
    return this.#hasTrailers;
  }

  override addTrailers(trailers: OutgoingHttpHeaders): void {
    super.addTrailers(trailers);
    this.#hasTrailers = true;
  }

  /** Accepts flat header lists, including repeated headers; connection-specific HTTP/1 headers are omitted. */
  override writeHead(status: number, headers?: unknown): this {
    if (isOver(this)) return this;
    this.#bodiless = status === 204 || status === 304 || this.req.method === 'HEAD';
    const given = Array.isArray(headers) ? grouped(headers as string[]) : (headers as OutgoingHttpHeaders | undefined);
    return super.writeHead(status, given);
  }

  /** Writes a chunk of the body. Also called by `end`, with the last chunk. */
  override write(chunk: unknown, ...rest: unknown[]): boolean {
    if (isOver(this)) return false;
    if (!this.headersSent) this.writeHead(this.statusCode);
    if (this.#bodiless) return true;
    this.#written += Buffer.byteLength(chunk as string | Uint8Array);
    return super.write(chunk as string, ...(rest as []));
  }

  /** Writes a large body in pieces, as Node does not report how much of a single write the client has read. */
  override end(chunk?: unknown, ...rest: unknown[]): this {
    const isLarge = (typeof chunk === 'string' || chunk instanceof Uint8Array) && chunk.length > PIECE_BYTES;
    if (!isLarge || isOver(this) || rest.some((one) => typeof one === 'function')) {
      return super.end(chunk as string, ...(rest as []));
    }
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, rest[0] as BufferEncoding | undefined) : chunk;
    if (!this.headersSent) this.writeHead(this.statusCode);
    if (this.#bodiless) return super.end();
    const writeFrom = (at: number): void => {
      const next = at + PIECE_BYTES;
      if (next >= bytes.length) super.end(bytes.subarray(at));
      else this.write(bytes.subarray(at, next), (error?: Error | null) => error || writeFrom(next));
    };
    writeFrom(0);
    return this;
  }

  /** The client's progress in reading the body. */
  get taken(): Taken {
    const rest = this.stream.bufferSize;
    return { waits: rest > 0, bytes: this.#written - rest, rest: 0 };
  }

  /**
   * Aborts the response so that the client does not take it for complete; the connection stays open. A stream that the
   * client has reset with code 0 stays open, with the data that waits for the client's window, until it is destroyed.
   */
  override destroy(): this {
    abort(this.stream);
    return this;
  }

  /**
   * Node.js also emits `finish` when the client has disconnected, and emits `close` twice for a HEAD request with a
   * late response.
   */
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    if (event === 'finish' && (this.#isClosed || !this.writableFinished)) return false;
    if (event === 'close') {
      if (this.#isClosed) return false;
      this.#isClosed = true;
    }
    return super.emit(event, ...values);
  }
}

/** Maximum time for a connection to accept the end of a stream, in milliseconds. */
const RESET_MS = 5000;

/**
 * Aborts a stream. Its connection stays open, unless the client reads nothing from it, not even the end of the stream.
 */
export function abort(stream: ServerHttp2Stream): void {
  if (stream.closed) {
    stream.destroy();
    return;
  }
  const { session } = stream;
  stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  const cut = (): void => {
    if (!session) return;
    const connection = connections.get(session);
    session.destroy();
    // Closes the connection directly, because the session would wait for the client to read.
    connection?.destroy();
  };
  const timer = setTimeout(cut, RESET_MS);
  stream.once('close', () => clearTimeout(timer));
}

function isOver({ stream }: Http2ServerResponse): boolean {
  return stream.closed || stream.destroyed;
}

Object.defineProperties(Http2Response.prototype, {
  destroyed: {
    get(this: Http2Response) {
      return isOver(this);
    },
  },
  writableFinished: {
    get(this: Http2Response) {
      return this.writableEnded && this.stream.writableFinished && !this.stream.aborted;
    },
  },
});

function grouped(headers: readonly string[]): OutgoingHttpHeaders {
  const groups = new Map<string, string | string[]>();
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase();
    if (DROPPED.has(name)) continue;
    const value = headers[at + 1]!;
    const there = groups.get(name);
    if (there === undefined) groups.set(name, value);
    else if (typeof there === 'string') groups.set(name, [there, value]);
    else there.push(value);
  }
  return Object.fromEntries(groups);
}
