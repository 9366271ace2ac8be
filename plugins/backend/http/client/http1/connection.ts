import type { Socket } from 'node:net';
import type { AnswerHandler } from '../answer-handler.ts';
import type { Sending } from '../sending.ts';
import { type Carrier, RoundTrip } from './round-trip.ts';

/** Owner of a connection. */
export interface ConnectionOwner {
  /** Host such as `host:port`. */
  readonly host: string;
  /** Called when the connection has become idle. @param keepAlive value of the response's `Keep-Alive`; null if it is missing. */
  freed(connection: Connection, keepAlive: string | null): void;
  /** Called when the connection has been closed. */
  lost(connection: Connection): void;
}

/** A connection to a backend that handles one request at a time. */
export class Connection implements Carrier {
  readonly socket: Socket;
  readonly host: string;
  /** Idle deadline on the clock of `performance.now`; set by the owner. */
  idleUntil = Number.POSITIVE_INFINITY;
  readonly #owner: ConnectionOwner;
  #trip: RoundTrip | null = null;
  #error: Error | null = null;
  #isStarting = false;
  #isClosed = false;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.socket = socket;
    this.host = owner.host;
    this.#owner = owner;
    socket.on('drain', () => this.#trip?.drained());
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.once('end', () => {
      // The socket is destroyed first, so that ending a request that was not sent yet does not make the connection
      // available to others.
      socket.destroy();
      this.#trip?.closed(null);
    });
    socket.once('close', () => this.#closed());
  }

  /** @returns false if the request was aborted before it was sent, so that the connection can handle another one. */
  send(sending: Sending, handler: AnswerHandler): boolean {
    const trip = new RoundTrip(this, sending, handler);
    this.#trip = trip;
    this.#isStarting = true;
    try {
      trip.send();
    } finally {
      this.#isStarting = false;
    }
    return this.#trip !== null || this.#isClosed || this.socket.destroyed;
  }

  /** @param bytes shared buffer that is reused after the call. */
  read(bytes: Buffer, length: number): void {
    // Data that arrives without a request is invalid, so the connection is closed.
    if (this.#trip === null) this.socket.destroy();
    else this.#trip.read(bytes, length);
  }

  finished(isReusable: boolean, keepAlive: string | null): void {
    this.#trip = null;
    if (this.#isClosed) return;
    if (!isReusable || this.socket.destroyed || !this.socket.writable) this.socket.destroy();
    else if (!this.#isStarting) this.#owner.freed(this, keepAlive);
  }

  #closed(): void {
    this.#isClosed = true;
    this.#owner.lost(this);
    this.#trip?.closed(this.#error);
  }
}
