import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type DeniedAddresses, timerMs } from '#contract';
import type { TlsClient } from '../../services/client-tls.ts';

/** How connections are made. Times in milliseconds. */
export interface DialSettings {
  /** Longest time for name look-up, TCP and TLS; 0 for the default. */
  readonly timeoutMs: number;
  /** Pause between TCP keep-alive probes; negative for none. */
  readonly keepAliveMs: number;
  /** Wait before the next address of a name is tried. */
  readonly fallbackDelayMs: number;
  /** Null for plain HTTP/2. */
  readonly tls: (() => TlsClient) | null;
  readonly denied: DeniedAddresses;
}

/** An address that is called. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

const DIAL_MS = 20_000;
/** How long the other side may take to answer a PING. */
const PING_MS = 5_000;
/** Servers close connections that send PINGs more often. */
const PING_PAUSE_MS = 10_000;
/** Bytes of responses that may be on their way, of one call and of a connection. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 8 * 1024 * 1024;
const MAX_HEADER_PAIRS = 500;
const MAX_HEADER_BYTES = 64 * 1024;
const SESSION_MEMORY_MB = 64;
/** Calls at once where the server does not say. */
const DEFAULT_STREAMS = 100;

/** A connection to a server, on which calls run side by side. */
export class Connection {
  /** Calls that run. */
  calls = 0;
  /** Why there is none; null while it lives. */
  failure: Error | null = null;
  readonly #socket: Socket;
  readonly #session: ClientHttp2Session;
  readonly #closed: (connection: Connection) => void;
  #isConnected = false;
  #isLeaving = false;
  #isSuspect = false;
  #asked = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** @param closed told once, when no call can begin on it any more. */
  constructor(address: Address, settings: DialSettings, closed: (connection: Connection) => void) {
    this.#closed = closed;
    const socket = dial(address, settings);
    this.#socket = socket;
    const name = address.host.includes(':') ? `[${address.host}]` : address.host;
    this.#session = connect(`${settings.tls ? 'https' : 'http'}://${name}:${address.port}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES, maxHeaderListSize: MAX_HEADER_BYTES },
      maxHeaderListPairs: MAX_HEADER_PAIRS,
      maxSessionMemory: SESSION_MEMORY_MB,
    });
    this.#session.setMaxListeners(0);
    this.#timer = setTimeout(
      () => this.destroy(new Error('connecting took too long')),
      timerMs(settings.timeoutMs || DIAL_MS),
    );
    this.#session.once('connect', () => {
      clearTimeout(this.#timer);
      if (settings.denied.has(socket.remoteAddress ?? '', socket.remotePort ?? 0)) {
        this.destroy(new Error('the gateway does not call its own admin port'));
        return;
      }
      this.#isConnected = true;
      this.#session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    });
    this.#session.once('goaway', () => this.#leave());
    this.#session.on('error', (error) => this.#over(error));
    this.#session.once('close', () => this.#over(new Error('connection closed')));
    // Node ends a session with its socket, but for what the socket says before there is one.
    socket.on('error', (error) => this.destroy(error));
  }

  /** True once it has been used for something. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Another call can begin on it at once. */
  get isFree(): boolean {
    return !this.#isLeaving && !this.#isSuspect && this.calls < this.#limit;
  }

  get #limit(): number {
    if (!this.#isConnected) return DEFAULT_STREAMS;
    const { maxConcurrentStreams = DEFAULT_STREAMS } = this.#session.remoteSettings;
    return Math.min(maxConcurrentStreams, 10_000);
  }

  /** Bytes that have come. */
  get bytesRead(): number {
    const { socket } = this.#session;
    return this.#session.destroyed || !socket ? 0 : socket.bytesRead;
  }

  /** Begins a call; `leave` must follow. @throws Error where there is no connection. */
  open(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    const stream = this.#session.request(headers);
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
    this.failure ??= reason;
    clearTimeout(this.#timer);
    this.#leave();
    // A session that was about to end would wait for a server that has nothing more to say.
    this.#socket.destroy();
  }
}

function dial({ host, port }: Address, { keepAliveMs, fallbackDelayMs, tls }: DialSettings): Socket {
  const options = {
    host,
    port,
    noDelay: true,
    keepAlive: keepAliveMs >= 0,
    keepAliveInitialDelay: timerMs(Math.max(keepAliveMs, 0)),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: timerMs(Math.max(fallbackDelayMs, 10)),
  };
  if (!tls) return connectPlain(options);
  // A certificate is for the name in the address; an IP address is sent to nobody.
  const servername = /^[\d.]+$|:/.test(host) ? '' : host;
  return connectTls({ ...options, ...tls(), servername, ALPNProtocols: ['h2'] });
}
