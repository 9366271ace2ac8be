import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import { boundToOwner, timerMs } from '#contract';

/** Socket and limits of a connection. */
export interface ConnectionSettings {
  /** Socket, connected or connecting. */
  readonly socket: Socket;
  /** Origin of the server, such as `https://host:port`. */
  readonly origin: string;
  /** Longest wait for the server's settings, in milliseconds; 0 for the default. */
  readonly timeoutMs: number;
  /** Flow-control window of a stream: bytes of a response that may be in flight before they are read. */
  readonly streamWindowBytes: number;
  /** Checks the address that the socket connected to; null if it is allowed. Default: everything is allowed. */
  readonly refuses?: (socket: Socket) => Error | null;
  /** Called once the server's settings have arrived. */
  readonly settled?: () => void;
}

const DIAL_MS = 20_000;
/** Longest wait for a server's response to a PING and to the end of a connection, in milliseconds. */
const PING_MS = 5_000;
/** Shortest interval between PINGs, in milliseconds: servers close connections that send them more often. */
const PING_PAUSE_MS = 10_000;
/** Flow-control window of a connection: bytes of all its responses that may be in flight. */
const CONNECTION_WINDOW_BYTES = 8 * 1024 * 1024;
/** Maximum number of fields of a response head; a larger one ends its stream. */
const MAX_HEADER_PAIRS = 2000;
/** Maximum number of bytes of a response head. The library ends a connection if a head takes more than 144 KiB of frames. */
const MAX_HEADER_BYTES = 128 * 1024;
const SESSION_MEMORY_MB = 64;
/** Concurrent calls if the server sets no limit. */
const DEFAULT_STREAMS = 100;
const MAX_STREAMS = 10_000;

/** Preserves headers as received, including duplicates of single-value fields. Node's types lack this option for clients. */
const asReceived = { strictSingleValueFields: false };

/** The server has closed the connection. */
class ConnectionClosed extends Error {
  readonly code = 'HTTP2_CLOSED';

  constructor() {
    super('connection closed');
  }
}

/** A connection to a server, with concurrent calls. */
export class Connection {
  /** Number of active calls. */
  calls = 0;
  readonly #socket: Socket;
  readonly #session: ClientHttp2Session;
  readonly #closed: (connection: Connection) => void;
  #failure: Error | null = null;
  #isConnected = false;
  #hasSettings = false;
  #isLeaving = false;
  #isSuspect = false;
  #limit = DEFAULT_STREAMS;
  #lastStream = Number.POSITIVE_INFINITY;
  #requested = Number.NEGATIVE_INFINITY;
  /** Ends a connection whose server sends no settings in time. */
  readonly #dialing: NodeJS.Timeout;
  /** Ends a connection whose server responds neither to a PING nor to its end. */
  #pinging: NodeJS.Timeout | undefined;
  /** Starts the timer `#pinging`. The connection owns it, not the call that causes the PING. */
  readonly #endIn = boundToOwner((end: () => void) => {
    this.#pinging = setTimeout(end, PING_MS);
  });

  /** @param closed called once, when the connection accepts no further calls. */
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
    this.#dialing = setTimeout(() => this.destroy(new Error('connection timed out')), timerMs(timeoutMs || DIAL_MS));
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
      this.#hasSettings = true;
      clearTimeout(this.#dialing);
      settled?.();
    });
    this.#session.on('stream', refusePush);
    this.#session.on('goaway', (_code, lastStream) => {
      this.#lastStream = lastStream ?? 0;
      this.#leave();
    });
    this.#session.on('error', (error) => this.#over(error));
    this.#session.once('close', () => this.#over(new ConnectionClosed()));
    // Node ends a session when its socket closes, but does not handle socket errors that occur before the session
    // exists.
    socket.on('error', (error) => this.destroy(error));
  }

  /** Returns why the connection failed; null while it is alive. */
  get failure(): Error | null {
    // Node ends the streams of a lost connection before it reports the loss, but the socket is already destroyed then.
    if (this.#socket.destroyed) this.#failure ??= new ConnectionClosed();
    return this.#failure;
  }

  /** Whether the connection has been established. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Whether another call can start immediately. */
  get isFree(): boolean {
    return !this.#isOver && !this.#isSuspect && this.calls < this.#limit;
  }

  /** Node reports the end of a session only when its socket is closed. */
  get #isOver(): boolean {
    return this.#isLeaving || this.#session.destroyed || this.#socket.destroyed;
  }

  /** Whether the server declared that it did not process a stream: its request can be sent again, regardless of the method. */
  hasLeftOut(stream: ClientHttp2Stream): boolean {
    return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || (stream.id ?? 0) > this.#lastStream;
  }

  /** Bytes received. */
  get bytesRead(): number {
    const { socket } = this.#session;
    return this.#session.destroyed || !socket ? 0 : socket.bytesRead;
  }

  /** Starts a call; `leave` must follow. @throws Error if the connection has failed. */
  open(headers: OutgoingHttpHeaders | readonly string[], options?: ClientSessionRequestOptions): ClientHttp2Stream {
    const stream = this.#session.request(headers, options);
    this.calls += 1;
    return stream;
  }

  leave(): void {
    this.calls -= 1;
    if (this.calls === 0 && (this.#isLeaving || this.#session.destroyed)) this.close();
  }

  /**
   * Reports that nothing has arrived for the duration of a call's timeout. No further call starts on this connection
   * until the server has responded to a PING; without a response, the connection is closed.
   */
  suspect(): void {
    const now = performance.now();
    if (this.#isOver || this.#isSuspect || !this.#isConnected || now - this.#requested < PING_PAUSE_MS) return;
    this.#requested = now;
    this.#isSuspect = true;
    this.#endIn(() => this.destroy(new Error('the server does not respond')));
    this.#session.ping((error) => {
      if (error) return;
      clearTimeout(this.#pinging);
      this.#isSuspect = false;
    });
  }

  /** Closes the connection after its last call. */
  close(): void {
    this.#leave();
    if (this.calls === 0) this.#end();
  }

  /** Closes the connection immediately and ends every call. */
  destroy(reason: Error): void {
    this.#over(reason);
    this.#session.destroy(reason, constants.NGHTTP2_CANCEL);
  }

  #leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#closed(this);
  }

  /**
   * Ends the session. The socket is destroyed after a delay, because it would otherwise wait for the server to read all
   * data and to close.
   */
  #end(): void {
    if (this.#socket.destroyed) return;
    if (!this.#hasSettings) return this.destroy(new ConnectionClosed());
    this.#session.close();
    clearTimeout(this.#pinging);
    this.#endIn(() => this.#over(new ConnectionClosed()));
  }

  #over(reason: Error): void {
    this.#failure ??= reason;
    clearTimeout(this.#dialing);
    clearTimeout(this.#pinging);
    this.#leave();
    // The socket is destroyed, because a closing session would wait for a server that sends nothing more.
    this.#socket.destroy();
  }
}

/** Cancels a response that the server pushes, which it can do until it has acknowledged the client's settings. */
function refusePush(pushed: ClientHttp2Stream): void {
  pushed.on('error', () => {}).close(constants.NGHTTP2_CANCEL);
}
