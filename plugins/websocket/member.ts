import type { Duplex } from 'node:stream';
import type { Upgrade } from '#contract';
import { acceptWebSocket } from './accept.ts';
import type { Envelopes, Session } from './envelope.ts';
import { GOING_AWAY, Peer, type PeerEvents, type PeerLimits, TOO_BIG, TRY_AGAIN_LATER } from './peer.ts';

/** Limits of a client. */
export interface MemberLimits {
  readonly maxBytes: number;
  /** Maximum number of queued messages, in either direction. */
  readonly maxWaiting: number;
  readonly client: PeerLimits;
}

/** Event handlers of a member. */
export interface MemberEvents {
  joined(member: Member): void;
  message(member: Member, data: Buffer): void;
  left(member: Member, error: Error | null): void;
}

/** A client that shares the backend connection with others. */
export class Member implements Upgrade {
  readonly url: string;
  readonly session: Session;
  readonly envelopes: Envelopes;
  /** Messages queued for the backend. */
  readonly waiting: Buffer[] = [];
  /** True until the backend has been notified of the client. */
  isUnannounced = false;
  readonly #limits: MemberLimits;
  readonly #events: MemberEvents;
  readonly #subprotocol: string;
  #peer: Peer | null = null;
  #isPaused = false;

  constructor(
    client: { readonly url: string; readonly session: Session; readonly envelopes: Envelopes; subprotocol: string },
    limits: MemberLimits,
    events: MemberEvents,
  ) {
    this.url = client.url;
    this.session = client.session;
    this.envelopes = client.envelopes;
    this.#subprotocol = client.subprotocol;
    this.#limits = limits;
    this.#events = events;
  }

  take(connection: Duplex, head: Buffer): void {
    const { maxBytes, client } = this.#limits;
    const socket = acceptWebSocket(connection, head, maxBytes, this.#subprotocol);
    const events: PeerEvents = {
      message: (data) => this.#events.message(this, data),
      drained() {},
      closed: (_code, _reason, error) => this.#events.left(this, error),
    };
    this.#peer = new Peer(socket, client, events);
    this.#events.joined(this);
  }

  end(): void {
    this.close(GOING_AWAY);
  }

  close(code: number): void {
    this.#peer?.close(code);
  }

  /** Sends a message; a client that cannot receive it, or falls too far behind, is disconnected. @returns true if the message was sent. */
  deliver(payload: Buffer, isBinary: boolean): boolean {
    const peer = this.#peer!;
    if (!peer.isOpen) return false;
    if (payload.length > this.#limits.maxBytes) peer.close(TOO_BIG);
    else if (peer.waiting >= this.#limits.maxWaiting) peer.close(TRY_AGAIN_LATER);
    else {
      peer.send(payload, isBinary);
      return true;
    }
    return false;
  }

  /** Sends an error message, unless the client cannot receive any. */
  report(text: string): void {
    const peer = this.#peer!;
    if (peer.waiting < this.#limits.maxWaiting) peer.send(text, false);
  }

  /** Stops reading from the client. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#peer?.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#peer?.resume();
  }
}
