import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Log, Upgrade } from '#contract';
import { acceptWebSocket } from './accept.ts';
import type { Measures } from './measures.ts';
import {
  BAD_GATEWAY,
  GOING_AWAY,
  isLoss,
  isTooBig,
  NOT_CONNECTED,
  Peer,
  type PeerEvents,
  type PeerLimits,
  TOO_BIG,
} from './peer.ts';
import { Attempts, type RetrySettings } from './reconnect.ts';

/** Settings of all connections of an endpoint. */
export interface DirectSettings {
  readonly maxBytes: number;
  /** Maximum number of client messages queued while the backend is disconnected. */
  readonly maxWaiting: number;
  readonly client: PeerLimits;
  readonly backend: PeerLimits;
  readonly retries: RetrySettings;
  /** True when clients are notified of messages that could not be delivered to the backend. */
  readonly reportsErrors: boolean;
  readonly measures: Measures;
  readonly log: Log;
}

/** A queued message. */
interface Waiting {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/**
 * A client with its own connection to the backend: messages pass unchanged, the faster side waits for the slower one,
 * and a close on one side is repeated on the other. A lost backend connection is reopened while the client stays
 * connected.
 */
export class DirectConnection implements Upgrade {
  readonly #settings: DirectSettings;
  readonly #redial: (signal: AbortSignal) => Promise<WebSocket>;
  readonly #subprotocol: string;
  readonly #over = new AbortController();
  readonly #attempts: Attempts;
  #client: Peer | null = null;
  /** Backend connection; null while disconnected. */
  #backend: Peer | null;
  #waiting: Waiting[] = [];
  /** Function that handles the backend's close, if it closed before the client was connected. */
  #closedEarly: (() => void) | null = null;

  /** @param backend an open connection, paused. @param redial opens a new connection. */
  constructor(backend: WebSocket, redial: (signal: AbortSignal) => Promise<WebSocket>, settings: DirectSettings) {
    this.#settings = settings;
    this.#redial = redial;
    this.#subprotocol = backend.protocol;
    this.#attempts = new Attempts(settings.retries);
    this.#backend = this.#peerOf(backend);
  }

  take(connection: Duplex, head: Buffer): void {
    const { maxBytes, client, measures } = this.#settings;
    const socket = acceptWebSocket(connection, head, maxBytes, this.#subprotocol);
    this.#client = new Peer(socket, client, this.#clientEvents);
    measures.opened();
    this.#backend?.resume();
    this.#closedEarly?.();
  }

  end(): void {
    this.#backend?.close(GOING_AWAY);
    this.#client?.close(GOING_AWAY);
    this.#over.abort();
  }

  /** Called when the request is over: closes the backend connection unless the client uses it. */
  release(): void {
    if (!this.#client) this.end();
  }

  #peerOf(socket: WebSocket): Peer {
    this.#attempts.succeeded();
    const peer: Peer = new Peer(socket, this.#settings.backend, {
      message: (data, isBinary) => {
        this.#settings.measures.sent();
        if (!this.#client?.send(data, isBinary)) peer.pause();
      },
      drained: () => this.#client?.resume(),
      closed: (code, reason, error) => this.#backendClosed(code, reason, error),
    });
    return peer;
  }

  readonly #clientEvents: PeerEvents = {
    message: (data, isBinary) => {
      this.#settings.measures.received();
      if (this.#backend) {
        if (!this.#backend.send(data, isBinary)) this.#client!.pause();
      } else if (this.#waiting.length < this.#settings.maxWaiting) {
        // The data is copied, because it may be a small part of a large received chunk.
        this.#waiting.push({ data: Buffer.copyBytesFrom(data), isBinary });
      } else {
        this.#settings.measures.dropped();
        const { reportsErrors, maxWaiting } = this.#settings;
        if (reportsErrors && this.#client!.waiting < maxWaiting) this.#client!.send(NOT_CONNECTED, false);
      }
    },
    drained: () => this.#backend?.resume(),
    closed: (code, reason, error) => {
      const { measures, log } = this.#settings;
      if (error) {
        log.debug(() => `client: ${error.message}`);
        measures.failed('client', error);
      }
      this.#over.abort();
      this.#backend?.close(code, reason);
      measures.closed();
    },
  };

  #backendClosed(code: number, reason: Buffer, error: Error | null): void {
    this.#backend = null;
    if (this.#over.signal.aborted) return;
    const client = this.#client;
    if (!client) {
      this.#closedEarly = () => this.#backendClosed(code, reason, error);
      return;
    }
    if (error) this.#settings.measures.failed('backend', error);
    if (isTooBig(error)) client.close(TOO_BIG);
    else if (isLoss(code) || error) void this.#reconnect(error);
    else client.close(code, reason);
  }

  async #reconnect(error: Error | null): Promise<void> {
    const { log, measures } = this.#settings;
    const { signal } = this.#over;
    log.warning(`backend lost: ${error?.message ?? 'the connection ended'}`);
    // The client may have been paused by the connection that was lost.
    this.#client!.resume();
    const socket = await this.#attempts.run(
      'backend',
      () => this.#redial(signal),
      () => log,
      signal,
    );
    if (signal.aborted) return socket?.terminate();
    if (!socket) return this.#client!.close(BAD_GATEWAY);
    measures.reconnected();
    const backend = this.#peerOf(socket);
    this.#backend = backend;
    let isTaken = true;
    for (const { data, isBinary } of this.#waiting.splice(0)) isTaken = backend.send(data, isBinary);
    if (!isTaken) this.#client!.pause();
    backend.resume();
  }
}
