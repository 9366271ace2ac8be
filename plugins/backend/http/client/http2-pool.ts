import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { openOwned, runAs, timerMs } from '#contract';
import { Connection } from '../../../clients/http2/connection.ts';
import type { AnswerHandler } from './answer-handler.ts';
import type { Connect, FreshMark } from './connector.ts';
import { clientClosed, UnprocessedError } from './errors.ts';
import type { Http1Pool } from './http1/pool.ts';
import { Http2Stream, StreamError } from './http2-stream.ts';
import type { Sending } from './sending.ts';

/** Maximum number of connections to one address. More than one is opened only if needed. */
const MAX_CONNECTIONS = 16;
/** Time for which a backend that has chosen HTTP/1.1 is not offered HTTP/2 again, in milliseconds. */
const HTTP1_MS = 5 * 60_000;
/** Maximum number of bytes of a response that are received before they are read. */
const STREAM_WINDOW_BYTES = 256 * 1024;

interface Waiting {
  readonly sending: Sending;
  readonly handler: AnswerHandler;
}

/**
 * HTTP/2 connections to one address. Requests are multiplexed on as few connections as possible. Over TLS the backend
 * chooses the protocol, with HTTP/1.1 as the fallback; without TLS it must support HTTP/2.
 */
export class Http2Pool {
  readonly #url: URL;
  readonly #connect: Connect;
  readonly #mark: FreshMark;
  readonly #http1: Http1Pool;
  readonly #idleMs: number;
  readonly #connections = new Set<Connection>();
  #waiting: Waiting[] = [];
  #isOpening = false;
  /** Connection that has not received the server's settings yet. */
  #opening: Connection | null = null;
  #http1Until = Number.NEGATIVE_INFINITY;
  #calls = 0;
  #idle: NodeJS.Timeout | undefined;
  #emptied: (() => void) | null = null;
  #isClosed = false;

  /**
   * @param mark set while a new connection gets its first requests.
   * @param http1 pool for backends that choose HTTP/1.1.
   * @param idleMs time for which idle connections are kept; 0 keeps them indefinitely.
   */
  constructor(address: string, connect: Connect, mark: FreshMark, http1: Http1Pool, idleMs: number) {
    this.#url = new URL(address);
    this.#connect = connect;
    this.#mark = mark;
    this.#http1 = http1;
    this.#idleMs = idleMs;
  }

  /** Whether no connection is open. */
  get isUnused(): boolean {
    return this.#connections.size === 0 && this.#http1.isUnused;
  }

  /** @param forceNew whether to use a new connection; applies only to HTTP/1.1. */
  dispatch(sending: Sending, handler: AnswerHandler, forceNew = false): void {
    if (this.#isClosed) return handler.onResponseError(null, clientClosed());
    if (performance.now() < this.#http1Until) {
      this.#http1.dispatch(sending, handler, forceNew);
      return;
    }
    this.#calls += 1;
    clearTimeout(this.#idle);
    const connection = this.#waiting.length === 0 ? this.#free() : null;
    if (connection) return this.#start(connection, { sending, handler });
    this.#waiting.push({ sending, handler });
    this.#open();
  }

  /** Closes every connection after its last call. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    // The attempt to connect is ended, because all requests that waited for it have been aborted.
    this.#opening?.close();
    this.#refuse(clientClosed());
    await this.#http1.close();
    if (this.#calls > 0) await new Promise<void>((resolve) => (this.#emptied = resolve));
    this.#closeConnections();
  }

  /** Returns a connection with free capacity. If the maximum number of connections is open, returns the one with the fewest calls. */
  #free(): Connection | null {
    let least: Connection | null = null;
    for (const connection of this.#connections) {
      if (connection.isFree) return connection;
      if (least === null || connection.calls < least.calls) least = connection;
    }
    return this.#connections.size < MAX_CONNECTIONS ? null : least;
  }

  #open(): void {
    if (this.#isOpening) return;
    this.#isOpening = true;
    this.#connect(null, (error, socket) => {
      if (this.#isClosed) return socket?.destroy();
      if (socket && isHttp2(this.#url, socket)) return this.#adopt(socket);
      this.#isOpening = false;
      if (socket) this.#fallBack(socket);
      else this.#refuse(error!);
    });
  }

  /** Requests begin only now, when the server's limit on concurrent requests is known. */
  #adopt(socket: Socket): void {
    const { fresh } = this.#mark;
    const connection: Connection = openOwned(
      'backend connection',
      this.#url.host,
      () =>
        new Connection(
          {
            socket,
            origin: this.#url.origin,
            timeoutMs: 0,
            streamWindowBytes: STREAM_WINDOW_BYTES,
            settled: () => {
              this.#isOpening = false;
              this.#opening = null;
              this.#connections.add(connection);
              this.#mark.fresh = fresh;
              this.#drain();
              this.#mark.fresh = null;
            },
          },
          (closed) => {
            if (this.#connections.delete(closed)) return;
            this.#isOpening = false;
            this.#opening = null;
            this.#refuse(closed.failure ?? new StreamError(constants.NGHTTP2_NO_ERROR));
          },
        ),
    );
    this.#opening = connection;
  }

  /** Switches to HTTP/1.1. The open connection is not used, because the HTTP/1.1 pool has its own settings. */
  #fallBack(socket: { destroy(): unknown }): void {
    socket.destroy();
    this.#http1Until = performance.now() + HTTP1_MS;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { sending, handler } of waiting) {
      this.#http1.dispatch(sending, handler);
      this.#leave();
    }
  }

  #refuse(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { handler } of waiting) {
      this.#leave();
      handler.onResponseError(null, error);
    }
  }

  #drain(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#free();
      if (!connection) return this.#open();
      this.#start(connection, this.#waiting.shift()!);
    }
  }

  #start(connection: Connection, { sending, handler }: Waiting): void {
    const stream = new Http2Stream(connection, handler, (failure) => {
      if (failure instanceof UnprocessedError && failure.wantsHttp1 && this.#url.protocol === 'https:') {
        this.#http1Until = performance.now() + HTTP1_MS;
      }
      this.#leave();
      if (this.#waiting.length > 0) this.#drain();
    });
    stream.send(this.#url, sending);
  }

  #leave(): void {
    this.#calls -= 1;
    if (this.#calls > 0) return;
    this.#emptied?.();
    if (this.#idleMs === 0 || this.#isClosed) return;
    const closeLater = () => setTimeout(() => this.#closeConnections(), timerMs(this.#idleMs));
    this.#idle = runAs('backend connection', this.#url.host, closeLater).unref();
  }

  #closeConnections(): void {
    for (const connection of [...this.#connections]) connection.close();
  }
}

/** Whether the server has chosen HTTP/2. Without TLS, HTTP/2 is assumed. */
function isHttp2({ protocol }: URL, socket: Socket): boolean {
  return protocol === 'http:' || (socket as TLSSocket).alpnProtocol === 'h2';
}
