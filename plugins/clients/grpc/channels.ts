import { runAs, timerMs } from '#contract';
import type { Connection } from '../http2/connection.ts';
import { type Address, connectTo, type DialSettings } from './dial.ts';

/** Maximum number of connections to one address. More than one is opened only if needed. */
const MAX_CONNECTIONS = 16;
/** Time for which an address is avoided after a failed connection, in milliseconds. */
const AVOIDED_MS = 5_000;
/**
 * Number of addresses from which on unused addresses are removed, and idle connections closed. Clients and service
 * discovery can name any number of addresses.
 */
const SWEEP_FROM = 64;
export const MAX_ADDRESSES = 256;

/** Channel to one address. Opens connections on demand, and closes idle ones. */
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

  /** Whether a connection attempt has failed recently. */
  get isFailing(): boolean {
    return performance.now() - this.#failedAt < AVOIDED_MS;
  }

  get isUnused(): boolean {
    return this.#connections.size === 0;
  }

  /** Whether no call is running. */
  get isIdle(): boolean {
    return this.#calls === 0;
  }

  /** Returns a connection for a call: one with free capacity, or the one with the fewest calls if all are full. Must be followed by `leave`. */
  enter(): Connection {
    this.#calls += 1;
    if (this.#idle) clearTimeout(this.#idle);
    this.#idle = null;
    for (const connection of this.#connections) if (connection.isFree) return connection;
    if (this.#connections.size < MAX_CONNECTIONS) return this.#connect();
    return [...this.#connections].reduce((one, other) => (other.calls < one.calls ? other : one));
  }

  /** @param idleMs time for which idle connections are kept; 0 keeps them indefinitely. */
  leave(idleMs: number): void {
    this.#calls -= 1;
    if (this.#calls > 0 || idleMs === 0 || this.#connections.size === 0) return;
    const { host } = this.address;
    this.#idle = runAs('backend connection', host, () => setTimeout(() => this.close(), timerMs(idleMs))).unref();
  }

  /** Closes every connection after its last call. */
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

/** Channels by address, for one set of TLS and dial settings. */
export class Channels {
  readonly #settings: DialSettings;
  readonly #channels = new Map<string, Channel>();

  constructor(settings: DialSettings) {
    this.#settings = settings;
  }

  /** @param origin `host:port`, with or without a scheme. @returns undefined if it is invalid. */
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

  /** Closes the oldest idle channel. If no channel is idle, the limit is exceeded. */
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

/** Parses an address; undefined if it is invalid. Default port: 443 with TLS, otherwise 80. */
export function addressOf(origin: string, isSecure: boolean): Address | undefined {
  const bare = origin.replace(/^[a-z][\w+.-]*:\/\//i, '');
  const url = /^[^/@?#]+$/.test(bare) ? URL.parse(`http://${bare}`) : null;
  if (!url) return undefined;
  // `URL` removes the port 80 from an address, because it is the default of the scheme used for parsing.
  const [, written] = /:(\d+)$/.exec(bare) ?? [];
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: written ? Number(written) : isSecure ? 443 : 80 };
}
