import type { Socket } from 'node:net';
import { runAs, timerMs } from '#contract';
import type { AnswerHandler } from '../answer-handler.ts';
import type { Connect, Reading } from '../connector.ts';
import { clientClosed, malformedAnswer } from '../errors.ts';
import type { Sending } from '../sending.ts';
import { urlOf } from '../socket-address.ts';
import { Connection } from './connection.ts';

/** Settings of a connection pool. */
export interface PoolOptions {
  /** Address such as `http://host:port` or `unix:///path`. */
  readonly address: string;
  readonly connect: Connect;
  /** Idle timeout of a connection, in milliseconds; 0 for no limit. */
  readonly idleMs: number;
  /** False to use each connection for one request only. */
  readonly keepAlive: boolean;
  /** Maximum number of open connections. Further requests wait. */
  readonly maxConnections: number;
}

interface Waiting {
  readonly sending: Sending;
  readonly handler: AnswerHandler;
}

/** Safety margin before the server's announced keep-alive timeout, so that no request is sent while the server closes the connection. In milliseconds. */
const KEEP_ALIVE_MARGIN_MS = 2000;

/**
 * Read buffer shared by all connections of the process. Bytes are read and processed in the same turn of the event
 * loop; handlers copy what they keep.
 */
const received = Buffer.allocUnsafeSlow(64 * 1024);

/** Passes on the bytes that a connection receives. */
class Receiver implements Reading {
  readonly buffer = received;
  connection: Connection | null = null;
  /** Whether the server sent data before the first request. Such data is invalid. */
  isUnsolicited = false;

  read(length: number): void {
    if (this.connection) this.connection.read(received, length);
    else this.isUnsolicited = true;
  }
}

/** HTTP/1.1 connections to one address, each with one request at a time. */
export class Http1Pool {
  readonly host: string;
  readonly #options: PoolOptions;
  /** Idle connections. The most recently used is last, and is taken first. */
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();
  readonly #waiting: Waiting[] = [];
  #dialing = 0;
  #sweep: NodeJS.Timeout | null = null;
  #hint = { text: '', ms: Number.POSITIVE_INFINITY };
  #isClosed = false;
  #emptied: (() => void) | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.host = urlOf(options.address).host;
  }

  /** Whether no connection is open. */
  get isUnused(): boolean {
    return this.#open.size === 0 && this.#dialing === 0;
  }

  /** @param forceNew whether to use a new connection. */
  dispatch(sending: Sending, handler: AnswerHandler, forceNew = false): void {
    if (this.#isClosed) return handler.onResponseError(null, clientClosed());
    const attempt = this.#options.keepAlive ? sending : { ...sending, isLast: true };
    const connection = forceNew ? null : this.#take();
    const waiting = { sending: attempt, handler };
    if (connection !== null) return this.#hand(connection, waiting, null);
    if (this.#open.size + this.#dialing < this.#options.maxConnections) this.#dial(waiting);
    else this.#waiting.push(waiting);
  }

  /** Closes every connection after its pending response. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#sweep !== null) clearTimeout(this.#sweep);
    for (const { socket } of this.#idle.splice(0)) socket.destroy();
    if (this.isUnused) return;
    await new Promise<void>((resolve) => {
      this.#emptied = resolve;
    });
  }

  freed(connection: Connection, keepAlive: string | null): void {
    this.#hand(connection, this.#waiting.shift(), keepAlive);
  }

  /** Assigns the first waiting request that was not aborted to the connection, or keeps the connection idle. */
  #hand(connection: Connection, first: Waiting | undefined, keepAlive: string | null): void {
    for (let next = first; next; next = this.#waiting.shift()) if (connection.send(next.sending, next.handler)) return;
    const { idleMs } = this.#options;
    const ms = Math.min(idleMs > 0 ? idleMs : Number.POSITIVE_INFINITY, this.#hinted(keepAlive));
    if (this.#isClosed || ms <= 0) {
      connection.socket.destroy();
      return;
    }
    connection.idleUntil = ms === Number.POSITIVE_INFINITY ? ms : performance.now() + ms;
    this.#idle.push(connection);
    if (ms < Number.POSITIVE_INFINITY && this.#sweep === null) this.#sweepIn(ms);
  }

  lost(connection: Connection): void {
    this.#open.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#next();
  }

  #take(): Connection | null {
    while (true) {
      const connection = this.#idle.pop();
      if (connection === undefined) return null;
      if (connection.socket.destroyed) continue;
      if (connection.idleUntil === Number.POSITIVE_INFINITY || connection.idleUntil > performance.now()) {
        return connection;
      }
      connection.socket.destroy();
    }
  }

  #dial(waiting: Waiting): void {
    this.#dialing += 1;
    const receiver = new Receiver();
    this.#options.connect(receiver, (failure, socket) => {
      this.#dialing -= 1;
      const error = receiver.isUnsolicited ? malformedAnswer('bytes received before the request was sent') : failure;
      if (socket && !error) this.#adopt(socket, receiver, waiting);
      else {
        socket?.destroy();
        waiting.handler.onResponseError(null, error!);
        this.#next();
      }
    });
  }

  #adopt(socket: Socket, receiver: Receiver, waiting: Waiting): void {
    const connection = new Connection(socket, this);
    receiver.connection = connection;
    this.#open.add(connection);
    this.#hand(connection, waiting, null);
  }

  /** Called when another connection may be opened. */
  #next(): void {
    const next = this.#waiting.shift();
    if (next) this.#dial(next);
    else if (this.isUnused) this.#emptied?.();
  }

  /** @returns the time that the server keeps an idle connection, in milliseconds. */
  #hinted(keepAlive: string | null): number {
    if (keepAlive === null) return Number.POSITIVE_INFINITY;
    if (keepAlive !== this.#hint.text) {
      const seconds = /(?:^|[\s,;])timeout=(\d{1,9})/i.exec(keepAlive)?.[1];
      const ms = seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000 - KEEP_ALIVE_MARGIN_MS;
      this.#hint = { text: keepAlive, ms };
    }
    return this.#hint.ms;
  }

  #sweepIn(ms: number): void {
    const sweepLater = () => setTimeout(() => this.#closeIdle(), timerMs(ms));
    this.#sweep = runAs('backend connection', this.host, sweepLater).unref();
  }

  /** Closes connections whose idle timeout has passed. */
  #closeIdle(): void {
    this.#sweep = null;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const { idleUntil, socket } of this.#idle) {
      if (idleUntil <= now) socket.destroy();
      else next = Math.min(next, idleUntil);
    }
    if (next < Number.POSITIVE_INFINITY) this.#sweepIn(next - now);
  }
}
