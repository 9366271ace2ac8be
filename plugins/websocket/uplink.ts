import type { WebSocket } from 'ws';
import { BackendError, type Log, timerMs } from '#contract';
import { GOING_AWAY, Peer, type PeerLimits } from './peer.ts';
import { Attempts, type RetrySettings } from './reconnect.ts';

/** First message to the backend, byte for byte, and the reply that the gateway expects. */
const GREETING = '{"msg":"KrakenD WS proxy starting"}';
const GREETED = 'OK';

/** Minimum interval between attempts to reach a backend to which the gateway no longer reconnects, in milliseconds. */
const REVIVAL_MS = 1000;

/** Event handlers of an uplink. */
export interface UplinkEvents {
  /** Called when the backend accepts messages. @param isAgain true after a reconnection. */
  ready(isAgain: boolean): void;
  message(data: Buffer): void;
  /** Called after `send` returned false, once more data can be sent. */
  drained(): void;
  /** Called when the backend connection was lost and is being reopened. */
  lost(error: Error | null): void;
  /** Called when the gateway stops trying to reconnect. */
  gaveUp(): void;
}

/** Opens a connection, paused. */
export type Dial = (signal: AbortSignal) => Promise<WebSocket>;

/** The single backend connection of an endpoint, reopened whenever it is lost. */
export class Uplink {
  readonly #limits: PeerLimits;
  readonly #attempts: Attempts;
  readonly #events: UplinkEvents;
  readonly #over = new AbortController();
  #dial: Dial;
  #log: Log;
  #peer: Peer | null = null;
  #isBegun = false;
  #isGivenUp = false;
  #wasReady = false;
  #triedAt = 0;
  /** Running attempt to reach a backend after the gateway had stopped reconnecting to it. */
  #revival: Promise<boolean> | null = null;

  constructor(limits: PeerLimits, retries: RetrySettings, events: UplinkEvents, dial: Dial, log: Log) {
    this.#limits = limits;
    this.#attempts = new Attempts(retries);
    this.#events = events;
    this.#dial = dial;
    this.#log = log;
  }

  get isReady(): boolean {
    return this.#peer !== null;
  }

  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** Sets the function that opens the connection from now on, and the log. */
  use(dial: Dial, log: Log): void {
    this.#dial = dial;
    this.#log = log;
  }

  /** Connects, unless already started. */
  open(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    void this.#connect();
  }

  /** Sends a message. @returns false when too much data is pending, or the backend is disconnected. */
  send(text: string): boolean {
    return this.#peer?.send(text, false) ?? false;
  }

  /** Reconnects to a backend after the gateway had given up, unless it tried to a moment ago. */
  revive(): Promise<boolean> {
    if (this.#revival) return this.#revival;
    if (!this.#isGivenUp) return Promise.resolve(true);
    if (performance.now() - this.#triedAt < REVIVAL_MS) return Promise.resolve(false);
    this.#revival = this.#attempt()
      .then(
        (peer) => this.#adopt(peer),
        (error: Error) => {
          this.#log.error(`backend: ${error.message}`);
          return false;
        },
      )
      .finally(() => {
        this.#revival = null;
      });
    return this.#revival;
  }

  close(): void {
    this.#over.abort();
    this.#peer?.close(GOING_AWAY);
    this.#peer = null;
  }

  async #connect(): Promise<void> {
    try {
      this.#adopt(await this.#attempt());
    } catch (error) {
      if (this.#over.signal.aborted) return;
      this.#log.error(`backend: ${(error as Error).message}`);
      await this.#retry();
    }
  }

  async #retry(): Promise<void> {
    const { signal } = this.#over;
    const peer = await this.#attempts.run(
      'backend',
      () => this.#attempt(),
      () => this.#log,
      signal,
    );
    if (peer) this.#adopt(peer);
    else if (!signal.aborted) {
      this.#isGivenUp = true;
      this.#events.gaveUp();
    }
  }

  #adopt(peer: Peer): boolean {
    // If the uplink was closed during the greeting, the new connection is closed.
    if (this.#over.signal.aborted) {
      peer.close(GOING_AWAY);
      return false;
    }
    if (!peer.isOpen) {
      this.#isGivenUp = false;
      void this.#retry();
      return false;
    }
    this.#attempts.succeeded();
    this.#isGivenUp = false;
    this.#peer = peer;
    const isAgain = this.#wasReady;
    this.#wasReady = true;
    this.#log.info('backend: connected');
    this.#events.ready(isAgain);
    return true;
  }

  /** Connects and sends the greeting. @throws BackendError WEBSOCKET_DIAL. */
  async #attempt(): Promise<Peer> {
    this.#triedAt = performance.now();
    const { signal } = this.#over;
    const socket = await this.#dial(signal);
    const { writeMs } = this.#limits;
    return new Promise<Peer>((resolve, reject) => {
      const fail = (reason: string) =>
        reject(
          new BackendError('WEBSOCKET_DIAL', `the opening messages were not exchanged with the backend: ${reason}`, {
            view: { status: 502 },
          }),
        );
      let isGreeted = false;
      const timer = setTimeout(() => peer.cut(new Error(`no "OK" within ${writeMs} ms`)), timerMs(writeMs));
      const abort = () => peer.close(GOING_AWAY);
      const peer: Peer = new Peer(socket, this.#limits, {
        message: (data, isBinary) => {
          if (isGreeted) return this.#events.message(data);
          if (isBinary || String(data) !== GREETED) return;
          isGreeted = true;
          clearTimeout(timer);
          signal.removeEventListener('abort', abort);
          resolve(peer);
        },
        drained: () => this.#events.drained(),
        closed: (_code, _reason, error) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', abort);
          fail(error?.message ?? 'the connection ended');
          if (this.#peer === peer) this.#lost(error);
        },
      });
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) return abort();
      socket.resume();
      peer.send(GREETING, false);
    });
  }

  #lost(error: Error | null): void {
    this.#peer = null;
    if (this.#over.signal.aborted) return;
    this.#log.warning(`backend lost: ${error?.message ?? 'the connection ended'}`);
    this.#events.lost(error);
    void this.#retry();
  }
}
