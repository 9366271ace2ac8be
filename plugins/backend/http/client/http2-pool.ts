import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { timerMs } from '#contract';
import { Connection } from '../../../services/http2/connection.ts';
import type { AnswerHandler } from './answer-handler.ts';
import type { Connect, FreshMark } from './connector.ts';
import { clientClosed, UnprocessedError } from './errors.ts';
import type { Http1Pool } from './http1/pool.ts';
import { Http2Stream, StreamError } from './http2-stream.ts';
import type { Sending } from './sending.ts';

/** Connections to one address: one where one is enough. */
const MAX_CONNECTIONS = 16;
/** How long a backend that has chosen HTTP/1.1 is not asked again, in milliseconds. */
const HTTP1_MS = 5 * 60_000;
/** Bytes of one answer that may have come before anybody reads them. */
const STREAM_WINDOW_BYTES = 256 * 1024;

interface Waiting {
  readonly sending: Sending;
  readonly handler: AnswerHandler;
}

/**
 * Requests to one address over HTTP/2, side by side on as few connections as it takes. Over TLS the backend chooses, and one
 * that chooses HTTP/1.1 is called so; without TLS it is taken to know HTTP/2.
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
  /** A connection whose server has not yet said what it allows. */
  #opening: Connection | null = null;
  #http1Until = Number.NEGATIVE_INFINITY;
  #calls = 0;
  #idle: NodeJS.Timeout | undefined;
  #emptied: (() => void) | null = null;
  #isClosed = false;

  /** @param mark is set while a new connection gets its first requests. @param http1 for a backend that chooses it. @param idleMs how long connections without calls are kept; 0 for ever. */
  constructor(address: string, connect: Connect, mark: FreshMark, http1: Http1Pool, idleMs: number) {
    this.#url = new URL(address);
    this.#connect = connect;
    this.#mark = mark;
    this.#http1 = http1;
    this.#idleMs = idleMs;
  }

  /** No connection is open. */
  get isUnused(): boolean {
    return this.#connections.size === 0 && this.#http1.isUnused;
  }

  /** @param isAnew where the backend has chosen HTTP/1.1. */
  dispatch(sending: Sending, handler: AnswerHandler, isAnew = false): void {
    if (this.#isClosed) return handler.onResponseError(null, clientClosed());
    if (performance.now() < this.#http1Until) {
      this.#http1.dispatch(sending, handler, isAnew);
      return;
    }
    this.#calls += 1;
    clearTimeout(this.#idle);
    const connection = this.#waiting.length === 0 ? this.#free() : null;
    if (connection) return this.#start(connection, { sending, handler });
    this.#waiting.push({ sending, handler });
    this.#open();
  }

  /** Every connection ends with its last call. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    // Whoever still waits for a connection has been given up.
    this.#opening?.close();
    this.#refuse(clientClosed());
    await this.#http1.close();
    if (this.#calls > 0) await new Promise<void>((resolve) => (this.#emptied = resolve));
    this.#closeConnections();
  }

  /** One that can take a call; where there are as many as there may be, the one with the fewest. */
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

  /** Requests begin once it is known how many may. */
  #adopt(socket: Socket): void {
    const { fresh } = this.#mark;
    const connection: Connection = new Connection(
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
    );
    this.#opening = connection;
  }

  /** The connection is not used for what it was opened for: that of HTTP/1.1 has settings of its own. */
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
    this.#idle = setTimeout(() => this.#closeConnections(), timerMs(this.#idleMs));
    this.#idle.unref();
  }

  #closeConnections(): void {
    for (const connection of [...this.#connections]) connection.close();
  }
}

/** The server has chosen it; without TLS it has no choice. */
function isHttp2({ protocol }: URL, socket: Socket): boolean {
  return protocol === 'http:' || (socket as TLSSocket).alpnProtocol === 'h2';
}
