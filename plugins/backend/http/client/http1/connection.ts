import type { Socket } from 'node:net';
import type { AnswerHandler } from '../answer-handler.ts';
import type { Sending } from '../sending.ts';
import { type Carrier, RoundTrip } from './round-trip.ts';

/** Whose connection it is. */
export interface ConnectionOwner {
  /** As in `host:port`. */
  readonly host: string;
  /** It carries nothing now. @param keepAlive what the answer said about it; null for nothing. */
  freed(connection: Connection, keepAlive: string | null): void;
  /** It is closed. */
  lost(connection: Connection): void;
}

/** One connection to a backend: one request at a time. */
export class Connection implements Carrier {
  readonly socket: Socket;
  readonly host: string;
  /** On the clock of `performance.now`; set by its owner. */
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
      // First: what has not been sent yet must not leave it to another request.
      socket.destroy();
      this.#trip?.closed(null);
    });
    socket.once('close', () => this.#closed());
  }

  /** @returns false where the request was given up before it was sent: the connection can carry another one. */
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

  /** @param bytes are another's after the call. */
  read(bytes: Buffer, length: number): void {
    // Nothing was asked for.
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
