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
import type { Taken } from './progress.ts';

declare module 'node:http2' {
  interface Http2ServerResponse {
    /** Writes an informational response, since Node.js 24. */
    writeInformation(status: number, headers?: OutgoingHttpHeaders): boolean;
  }
}

/** The connection of a session, which the session itself hides. */
export const connections = new WeakMap<Http2Session, Duplex>();

/**
 * A request over HTTP/2 that reads like one over HTTP/1: the name asked for is `Host`, cookies are one header, the
 * connection is known as long as the request is, and a body that breaks off is an error.
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
    // The TLS or TCP connection, which other requests share.
    Object.defineProperty(this, 'socket', { value: stream.session && connections.get(stream.session) });
    this.once('aborted', () => this.breakOff());
  }

  /** Tells the reader of the body that the rest will not come. */
  breakOff(): void {
    if (!this.readableEnded && this.listenerCount('error') > 0) this.emit('error', new Error('aborted'));
  }
}

/** Headers without HTTP/2's own ones; `Host` stands first, and is there only when it is known without doubt. */
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

/** Headers that belong to one HTTP/1 connection. */
const DROPPED: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Longest part of a body that is handed to Node at once, in bytes. */
const PIECE_BYTES = 256 * 1024;

/**
 * A response over HTTP/2 that is written like one over HTTP/1. A client can reset its stream between any two calls:
 * everything written after that is dropped, where Node's own class throws.
 */
export class Http2Response extends Http2ServerResponse {
  #bodiless = false;
  #written = 0;
  #hasTrailers = false;
  #isClosed = false;

  /** Node.js reports the end of a HEAD request only once its response has been sent, so not where the client resets it before. */
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

  /** Trailers stand behind the body: the stream has them to send yet when its body is written. */
  get hasTrailers(): boolean {
    return this.#hasTrailers;
  }

  override addTrailers(trailers: OutgoingHttpHeaders): void {
    super.addTrailers(trailers);
    this.#hasTrailers = true;
  }

  /** Takes flat lists of headers, repeated ones included; those of an HTTP/1 connection are left out. */
  override writeHead(status: number, headers?: unknown): this {
    if (isOver(this)) return this;
    this.#bodiless = status === 204 || status === 304 || this.req.method === 'HEAD';
    const given = Array.isArray(headers) ? grouped(headers as string[]) : (headers as OutgoingHttpHeaders | undefined);
    return super.writeHead(status, given);
  }

  /** The end of a response comes by here with its last chunk, too. */
  override write(chunk: unknown, ...rest: unknown[]): boolean {
    if (isOver(this)) return false;
    if (!this.headersSent) this.writeHead(this.statusCode);
    if (this.#bodiless) return true;
    this.#written += Buffer.byteLength(chunk as string | Uint8Array);
    return super.write(chunk as string, ...(rest as []));
  }

  /** A large body is handed over piece by piece: Node does not tell how much of a piece the client has taken. */
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

  /** Progress of the client in reading the body. */
  get taken(): Taken {
    const rest = this.stream.bufferSize;
    return { waits: rest > 0, bytes: this.#written - rest, rest: 0 };
  }

  /**
   * Aborts the response so that no client takes it for complete; the connection stays open. A stream that the client has
   * reset with code 0 stays until it is destroyed, with whatever was waiting for the client's window.
   */
  override destroy(): this {
    abort(this.stream);
    return this;
  }

  /** Node.js reports a `finish` also where the client has left, and the `close` of a HEAD request that is answered later once more. */
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    if (event === 'finish' && (this.#isClosed || !this.writableFinished)) return false;
    if (event === 'close') {
      if (this.#isClosed) return false;
      this.#isClosed = true;
    }
    return super.emit(event, ...values);
  }
}

/** Longest wait for a connection to take the end of a stream, in milliseconds. */
const RESET_MS = 5000;

/** Aborts a stream. Its connection stays open, unless the client takes nothing from it, so not even the end of a stream. */
export function abort(stream: ServerHttp2Stream): void {
  if (stream.closed) {
    stream.destroy();
    return;
  }
  const { session } = stream;
  stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  const cut = setTimeout(() => session?.destroy(), RESET_MS);
  stream.once('close', () => clearTimeout(cut));
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
