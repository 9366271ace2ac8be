import { type RawData, WebSocket } from 'ws';
import { timerMs } from '#contract';

/** Timeouts of a peer, for silence and for writes, in milliseconds. */
export interface PeerLimits {
  /** Timeout of a single write. */
  readonly writeMs: number;
  /** Silence after which a peer is considered lost; 0 for no limit. */
  readonly silenceMs: number;
  /** Interval between pings; 0 for none. */
  readonly pingMs: number;
}

/** Event handlers of a peer. */
export interface PeerEvents {
  message(data: Buffer, isBinary: boolean): void;
  /** Called after `send` returned false, once the pending data has been written. */
  drained(): void;
  /** Called once, when the connection has ended. @param error the error that ended it; null for a regular close. */
  closed(code: number, reason: Buffer, error: Error | null): void;
}

/** Bytes pending for a peer above which `send` returns false, and to which they must drop before `drained` is called. */
const HIGH_WATER_BYTES = 65_536;
const LOW_WATER_BYTES = 16_384;

/** Close codes (RFC 6455, 7.4). */
export const GOING_AWAY = 1001;
export const TOO_BIG = 1009;
export const TRY_AGAIN_LATER = 1013;
export const BAD_GATEWAY = 1014;
/** Sent to a client whose message could not be delivered to the backend. */
export const NOT_CONNECTED = '{"error":"empty connection"}';

const NO_STATUS = 1005;
const ABNORMAL = 1006;

/** True when the peer exceeded the message limit: the library has closed with 1009. */
export function isTooBig(error: Error | null): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
}

/** Error for a peer that was silent, or did not read its data, for too long. */
export class OutOfTime extends Error {}

/** True when a connection ended without a close frame. */
export function isLoss(code: number): boolean {
  return code === ABNORMAL;
}

/**
 * The remote end of a WebSocket, with enforced limits: a peer that is silent for too long, or does not read its data,
 * is terminated. Every error of the connection leads to `closed`.
 */
export class Peer {
  readonly #socket: WebSocket;
  readonly #limits: PeerLimits;
  readonly #events: PeerEvents;
  /** Writes in progress. */
  #writes = 0;
  #isFull = false;
  #isClosing = false;
  #isOver = false;
  /** Whether the peer was silent for too long, until the input that has already arrived has been read. */
  #isSuspect = false;
  #error: Error | null = null;
  #writing: NodeJS.Timeout | null = null;
  readonly #silence: NodeJS.Timeout | null;
  readonly #pings: NodeJS.Timeout | null;

  /** @param socket an open socket from which nothing has been read yet. */
  constructor(socket: WebSocket, limits: PeerLimits, events: PeerEvents) {
    this.#socket = socket;
    this.#limits = limits;
    this.#events = events;
    const { silenceMs, pingMs } = limits;
    this.#silence = silenceMs > 0 ? setTimeout(this.#onSilence, timerMs(silenceMs)).unref() : null;
    this.#pings = pingMs > 0 ? setInterval(this.#ping, timerMs(pingMs)).unref() : null;
    socket.on('message', this.#onMessage);
    socket.on('ping', this.#onLife);
    socket.on('pong', this.#onLife);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
  }

  /** Number of messages sent to the peer that are still being written. */
  get waiting(): number {
    return this.#writes;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** @returns false when too much data is pending: `drained` signals when to continue. */
  send(data: Buffer | string, isBinary: boolean): boolean {
    if (this.#writes++ === 0) this.#expectWrite();
    this.#socket.send(data, { binary: isBinary }, this.#onWritten);
    this.#isFull ||= this.#socket.bufferedAmount > HIGH_WATER_BYTES;
    return !this.#isFull;
  }

  /** Stops reading until `resume`; the silence timeout is suspended. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
    this.#onLife();
  }

  /** Closes gracefully, without values that a close frame cannot carry. The connection is terminated when that takes too long. */
  close(code?: number, reason?: Buffer | string): void {
    this.#isClosing = true;
    this.#stopTimers();
    // Resumes, because a paused connection would not receive the peer's close frame.
    this.#socket.resume();
    if (code === undefined || code === NO_STATUS) this.#socket.close();
    else this.#socket.close(code === ABNORMAL ? GOING_AWAY : code, reason);
  }

  /** Terminates the connection. */
  cut(error: Error): void {
    this.#error ??= error;
    this.#socket.terminate();
  }

  #expectWrite(): void {
    if (this.#writing) this.#writing.refresh();
    else this.#writing = setTimeout(this.#onSlowWrite, timerMs(this.#limits.writeMs)).unref();
  }

  readonly #onWritten = (error?: Error | null): void => {
    this.#writes--;
    if (error) return;
    if (this.#writes > 0) this.#writing?.refresh();
    if (!this.#isFull || this.#socket.bufferedAmount > LOW_WATER_BYTES) return;
    this.#isFull = false;
    this.#events.drained();
  };

  readonly #onSlowWrite = (): void => {
    if (this.#writes > 0) this.cut(new OutOfTime(`a write took longer than ${this.#limits.writeMs} ms`));
  };

  readonly #onSilence = (): void => {
    this.#isSuspect = true;
    // Whether the peer was silent is decided only after the data has been read that arrived while the process was busy.
    setImmediate(this.#judgeSilence);
  };

  readonly #judgeSilence = (): void => {
    if (!this.#isSuspect || this.#isOver) return;
    if (this.#socket.isPaused) this.#onLife();
    else this.cut(new OutOfTime(`no data for ${this.#limits.silenceMs} ms`));
  };

  readonly #ping = (): void => {
    if (this.isOpen) this.#socket.ping(undefined, undefined, ignored);
  };

  readonly #onMessage = (data: RawData, isBinary: boolean): void => {
    this.#onLife();
    // Data still buffered by a lost connection counts; data that arrives after a close from this side does not.
    if (!this.#isClosing) this.#events.message(data as Buffer, isBinary);
  };

  readonly #onLife = (): void => {
    this.#isSuspect = false;
    if (!this.#isClosing) this.#silence?.refresh();
  };

  /** The library closes the connection, and terminates it if the peer does not. Data that arrives later is ignored. */
  readonly #onError = (error: Error): void => {
    this.#error ??= error;
    this.#finish(ABNORMAL, noReason);
  };

  readonly #onClose = (code: number, reason: Buffer): void => {
    if (this.#writing) clearTimeout(this.#writing);
    this.#finish(code, reason);
  };

  #finish(code: number, reason: Buffer): void {
    this.#stopTimers();
    this.#isClosing = true;
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.closed(code, reason, this.#error);
  }

  #stopTimers(): void {
    if (this.#silence) clearTimeout(this.#silence);
    if (this.#pings) clearInterval(this.#pings);
  }
}

const noReason = Buffer.alloc(0);

function ignored(): void {}
