import { type RawData, WebSocket } from 'ws';
import { timerMs } from '#contract';

/** How long a peer may keep silent and take for what it is sent, in milliseconds. */
export interface PeerLimits {
  /** Longest time for one write. */
  readonly writeMs: number;
  /** A peer from which nothing came for that long is gone; 0 for no limit. */
  readonly silenceMs: number;
  /** Time between pings; 0 for none. */
  readonly pingMs: number;
}

/** What a peer does. */
export interface PeerEvents {
  message(data: Buffer, isBinary: boolean): void;
  /** After a `send` that said no: it has taken what it was sent. */
  drained(): void;
  /** Once. @param error that ended it; null where nothing went wrong. */
  closed(code: number, reason: Buffer, error: Error | null): void;
}

/** Bytes of one peer that wait to be written from which on `send` says no, and to which they must fall. */
const HIGH_WATER_BYTES = 65_536;
const LOW_WATER_BYTES = 16_384;

/** Close codes (RFC 6455, 7.4). */
export const GOING_AWAY = 1001;
export const TOO_BIG = 1009;
export const TRY_AGAIN_LATER = 1013;
export const BAD_GATEWAY = 1014;
/** What a client is sent whose message the backend could not be given. */
export const NOT_CONNECTED = '{"error":"empty connection"}';

const NO_STATUS = 1005;
const ABNORMAL = 1006;

/** The peer sent a message over the limit: the library has closed with 1009. */
export function isTooBig(error: Error | null): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
}

/** A peer was silent, or did not take what it was sent, for too long. */
export class OutOfTime extends Error {}

/** A connection ended without a close frame. */
export function isLoss(code: number): boolean {
  return code === ABNORMAL;
}

/**
 * The other end of a WebSocket, held to its limits: one that is silent for too long or does not take what it is sent is cut.
 * Every error of the connection ends in `closed`.
 */
export class Peer {
  readonly #socket: WebSocket;
  readonly #limits: PeerLimits;
  readonly #events: PeerEvents;
  /** Writes that have not ended. */
  #writes = 0;
  #isFull = false;
  #isClosing = false;
  #isOver = false;
  /** Nothing came for too long, unless it has come by the end of this turn. */
  #isSuspect = false;
  #error: Error | null = null;
  #writing: NodeJS.Timeout | null = null;
  readonly #silence: NodeJS.Timeout | null;
  readonly #pings: NodeJS.Timeout | null;

  /** @param socket that is open, of which nobody has read anything. */
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

  /** Messages that it was sent and has not taken. */
  get waiting(): number {
    return this.#writes;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** @returns false when enough waits to be written: `drained` tells when to go on. */
  send(data: Buffer | string, isBinary: boolean): boolean {
    if (this.#writes++ === 0) this.#expectWrite();
    this.#socket.send(data, { binary: isBinary }, this.#onWritten);
    this.#isFull ||= this.#socket.bufferedAmount > HIGH_WATER_BYTES;
    return !this.#isFull;
  }

  /** Reads no more until `resume`; silence is then no sign. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
    this.#onLife();
  }

  /** Closes in order; what cannot be said in a close frame is left out. The connection is cut where that takes too long. */
  close(code?: number, reason?: Buffer | string): void {
    this.#isClosing = true;
    this.#stopTimers();
    // A paused connection would not see the close frame of the other end.
    this.#socket.resume();
    if (code === undefined || code === NO_STATUS) this.#socket.close();
    else this.#socket.close(code === ABNORMAL ? GOING_AWAY : code, reason);
  }

  /** Cuts the connection. */
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
    // What came while the process was busy is read before that.
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
    // What a lost connection still held counts; what comes once it is being closed from here does not.
    if (!this.#isClosing) this.#events.message(data as Buffer, isBinary);
  };

  readonly #onLife = (): void => {
    this.#isSuspect = false;
    if (!this.#isClosing) this.#silence?.refresh();
  };

  /** The library closes, and cuts the connection where the other end does not. Nothing that comes counts any more. */
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
