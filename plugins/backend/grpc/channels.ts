import { timerMs } from '#contract';
import type { Connection } from '../../services/http2/connection.ts';
import { type Address, connectTo, type DialSettings } from './dial.ts';

/** Connections to one address: one where one is enough. */
const MAX_CONNECTIONS = 16;
/** How long an address is avoided that could not be connected to, in milliseconds. */
const AVOIDED_MS = 5_000;
/**
 * Addresses known before unused ones are forgotten, and before connections without calls are closed: clients and discovery
 * can name any number of them.
 */
const SWEEP_FROM = 64;
export const MAX_ADDRESSES = 256;

/** The way to one address: connections are made when they are needed, and closed when they are not. */
export class Channel {
  readonly address: Address;
  readonly #settings: DialSettings;
  readonly #connections = new Set<Connection>();
  #failedAt = Number.NEGATIVE_INFINITY;
  #idle: NodeJS.Timeout | null = null;
  #calls = 0;

  constructor(address: Address, settings: DialSettings) {
    this.address = address;
    this.#settings = settings;
  }

  /** The last connection could not be made, a moment ago. */
  get isFailing(): boolean {
    return performance.now() - this.#failedAt < AVOIDED_MS;
  }

  get isUnused(): boolean {
    return this.#connections.size === 0;
  }

  /** No call is under way. */
  get isIdle(): boolean {
    return this.#calls === 0;
  }

  /** A connection for a call; the one with the fewest calls where all are full. `leave` must follow. */
  enter(): Connection {
    this.#calls += 1;
    if (this.#idle) clearTimeout(this.#idle);
    this.#idle = null;
    for (const connection of this.#connections) if (connection.isFree) return connection;
    if (this.#connections.size < MAX_CONNECTIONS) return this.#connect();
    return [...this.#connections].reduce((one, other) => (other.calls < one.calls ? other : one));
  }

  /** @param idleMs how long connections without calls are kept from now on; 0 for ever. */
  leave(idleMs: number): void {
    this.#calls -= 1;
    if (this.#calls > 0 || idleMs === 0 || this.#connections.size === 0) return;
    this.#idle = setTimeout(() => this.close(), timerMs(idleMs));
    this.#idle.unref();
  }

  /** Every connection ends with its last call. */
  close(): void {
    if (this.#idle) clearTimeout(this.#idle);
    for (const connection of [...this.#connections]) connection.close();
  }

  #connect(): Connection {
    const connection = connectTo(this.address, this.#settings, (closed) => {
      this.#connections.delete(closed);
      if (closed.failure && !closed.isConnected) this.#failedAt = performance.now();
    });
    this.#connections.add(connection);
    return connection;
  }
}

/** The channels of one set of TLS and dial settings, by address. */
export class Channels {
  readonly #settings: DialSettings;
  readonly #channels = new Map<string, Channel>();

  constructor(settings: DialSettings) {
    this.#settings = settings;
  }

  /** @param origin `host:port`, with a scheme or without. @returns undefined for what is none. */
  to(origin: string): Channel | undefined {
    const known = this.#channels.get(origin);
    if (known) return known;
    const address = addressOf(origin, this.#settings.tls !== null);
    if (!address) return undefined;
    if (this.#channels.size >= SWEEP_FROM) this.#sweep();
    if (this.#channels.size >= MAX_ADDRESSES) this.#makeRoom();
    const channel = new Channel(address, this.#settings);
    this.#channels.set(origin, channel);
    return channel;
  }

  close(): void {
    for (const channel of this.#channels.values()) channel.close();
    this.#channels.clear();
  }

  /** Closes the oldest channel without a call. With a call on each there are as many as there are calls. */
  #makeRoom(): void {
    for (const [origin, channel] of this.#channels) {
      if (!channel.isIdle) continue;
      this.#channels.delete(origin);
      channel.close();
      return;
    }
  }

  #sweep(): void {
    for (const [origin, channel] of this.#channels) if (channel.isUnused) this.#channels.delete(origin);
  }
}

/** Undefined for what is no address. Default port: that of the scheme of HTTP. */
export function addressOf(origin: string, isSecure: boolean): Address | undefined {
  const bare = origin.replace(/^[a-z][\w+.-]*:\/\//i, '');
  const url = /^[^/@?#]+$/.test(bare) ? URL.parse(`http://${bare}`) : null;
  if (!url) return undefined;
  // `:80` is the default of the scheme that it was parsed with.
  const [, written] = /:(\d+)$/.exec(bare) ?? [];
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: written ? Number(written) : isSecure ? 443 : 80 };
}
