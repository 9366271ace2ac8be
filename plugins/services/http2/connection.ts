import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import { timerMs } from '#contract';

/** What a connection is made on, and its limits. */
export interface ConnectionSettings {
  /** Connected, or about to be. */
  readonly socket: Socket;
  /** As in `https://host:port`. */
  readonly origin: string;
  /** Longest time until the server has said what it allows, in milliseconds; 0 for the default. */
  readonly timeoutMs: number;
  /** Bytes of a response that may be on their way before anybody reads them. */
  readonly streamWindowBytes: number;
  /** What is wrong with where the socket came out; null for nothing. Default: nothing is. */
  readonly refuses?: (socket: Socket) => Error | null;
  /** Told once the server has said what it allows. */
  readonly settled?: () => void;
}

const DIAL_MS = 20_000;
/** How long the other side may take to answer a PING. */
const PING_MS = 5_000;
/** Servers close connections that send PINGs more often. */
const PING_PAUSE_MS = 10_000;
/** Bytes of all responses of a connection that may be on their way. */
const CONNECTION_WINDOW_BYTES = 8 * 1024 * 1024;
/** Fields of a response head; a larger one ends its stream. */
const MAX_HEADER_PAIRS = 2000;
/** Bytes of a response head. The library ends a connection over one that takes more than 144 KiB of frames. */
const MAX_HEADER_BYTES = 128 * 1024;
const SESSION_MEMORY_MB = 64;
/** Calls at once where the server does not say. */
const DEFAULT_STREAMS = 100;
const MAX_STREAMS = 10_000;

/** Headers are sent as they came, also those twice that are to be there once. The types of Node do not know it of clients. */
const asReceived = { strictSingleValueFields: false };

/** The server has closed the connection. */
class ConnectionClosed extends Error {
  readonly code = 'HTTP2_CLOSED';

  constructor() {
    super('connection closed');
  }
}

/** A connection to a server, on which calls run side by side. */
export class Connection {
  /** Calls that run. */
  calls = 0;
  readonly #socket: Socket;
  readonly #session: ClientHttp2Session;
  readonly #closed: (connection: Connection) => void;
  #failure: Error | null = null;
  #isConnected = false;
  #isLeaving = false;
  #isSuspect = false;
  #limit = DEFAULT_STREAMS;
  #lastStream = Number.POSITIVE_INFINITY;
  #asked = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** @param closed told once, when no call can begin on it any more. */
  constructor(
    { socket, origin, timeoutMs, streamWindowBytes, refuses, settled }: ConnectionSettings,
    closed: (connection: Connection) => void,
  ) {
    this.#closed = closed;
    this.#socket = socket;
    this.#session = connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes, maxHeaderListSize: MAX_HEADER_BYTES },
      maxHeaderListPairs: MAX_HEADER_PAIRS,
      maxSessionMemory: SESSION_MEMORY_MB,
      ...asReceived,
    });
    this.#session.setMaxListeners(0);
    this.#timer = setTimeout(() => this.destroy(new Error('connecting took too long')), timerMs(timeoutMs || DIAL_MS));
    this.#session.once('connect', () => {
      const refusal = refuses?.(socket) ?? null;
      if (refusal) return this.destroy(refusal);
      this.#isConnected = true;
      this.#session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    });
    this.#session.on('remoteSettings', ({ maxConcurrentStreams = MAX_STREAMS }) => {
      this.#limit = Math.min(maxConcurrentStreams, MAX_STREAMS);
    });
    this.#session.once('remoteSettings', () => {
      clearTimeout(this.#timer);
      settled?.();
    });
    this.#session.on('goaway', (_code, lastStream) => {
      this.#lastStream = lastStream ?? 0;
      this.#leave();
    });
    this.#session.on('error', (error) => this.#over(error));
    this.#session.once('close', () => this.#over(new ConnectionClosed()));
    // Node ends a session with its socket, but for what the socket says before there is one.
    socket.on('error', (error) => this.destroy(error));
  }

  /** Why there is none; null while it lives. */
  get failure(): Error | null {
    // Node ends the streams of a lost connection before it says so.
    if (this.#socket.destroyed) this.#failure ??= new ConnectionClosed();
    return this.#failure;
  }

  /** True once it has been used for something. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Another call can begin on it at once. */
  get isFree(): boolean {
    return !this.#socket.destroyed && !this.#isLeaving && !this.#isSuspect && this.calls < this.#limit;
  }

  /** The server has said that it will not look at a stream: its request can be sent again, whatever it is. */
  hasLeftOut(stream: ClientHttp2Stream): boolean {
    return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || (stream.id ?? 0) > this.#lastStream;
  }

  /** Bytes that have come. */
  get bytesRead(): number {
    const { socket } = this.#session;
    return this.#session.destroyed || !socket ? 0 : socket.bytesRead;
  }

  /** Begins a call; `leave` must follow. @throws Error where there is no connection. */
  open(headers: OutgoingHttpHeaders | readonly string[], options?: ClientSessionRequestOptions): ClientHttp2Stream {
    const stream = this.#session.request(headers, options);
    this.calls += 1;
    return stream;
  }

  leave(): void {
    this.calls -= 1;
    if (this.#isLeaving && this.calls === 0) this.#session.close();
  }

  /**
   * Nothing has come for as long as a whole call could wait: no further call begins here until the server has answered a
   * PING. One that does not is cut off.
   */
  suspect(): void {
    const now = performance.now();
    if (this.#isSuspect || this.#isLeaving || !this.#isConnected || now - this.#asked < PING_PAUSE_MS) return;
    this.#asked = now;
    this.#isSuspect = true;
    this.#timer = setTimeout(() => this.destroy(new Error('the server does not respond')), PING_MS);
    this.#session.ping((error) => {
      if (error) return;
      clearTimeout(this.#timer);
      this.#isSuspect = false;
    });
  }

  /** Ends with its last call. */
  close(): void {
    this.#leave();
    if (this.calls === 0) this.#session.close();
  }

  /** Ends now, and every call with it. */
  destroy(reason: Error): void {
    this.#over(reason);
    this.#session.destroy(reason, constants.NGHTTP2_CANCEL);
  }

  #leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#closed(this);
  }

  #over(reason: Error): void {
    this.#failure ??= reason;
    clearTimeout(this.#timer);
    this.#leave();
    // A session that was about to end would wait for a server that has nothing more to say.
    this.#socket.destroy();
  }
}
