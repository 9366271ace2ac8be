import { OriginPool, poolKey, type TransportSettings } from './origin-pool.ts';

/**
 * Number of configured addresses above which unused ones are removed, because service discovery can produce any number
 * of addresses.
 */
const SWEEP_FROM = 64;
/** Maximum number of addresses determined by requests whose idle connections are kept. */
const MAX_PASSING = 256;
/** Maximum number of addresses examined to find one that can be dropped for a new address. */
const LOOKED_AT = 16;

/** All connections that use one set of settings. */
export class Transport {
  #settings: TransportSettings;
  #lanes = new Map<string, OriginPool>();
  /** Connections to addresses determined by requests or redirects, and those of one client, most recently used last. */
  #passing = new Map<string, OriginPool>();
  #active = 0;
  #isClosed = false;

  constructor(settings: TransportSettings) {
    this.#settings = settings;
  }

  /**
   * Registers a call to an address such as `http://host:port`. Must be followed by `leave`.
   * @param isPassing whether the address comes from a request or a redirect, not from the configuration.
   * @param client IP address that the connection announces, or empty; undefined for connections without a client.
   * @throws Error if the address cannot be called.
   */
  enter(address: string, isPassing: boolean, client?: string): OriginPool {
    const lane =
      client === undefined
        ? (this.#lanes.get(address) ?? (isPassing ? this.#pass(address) : this.#open(address)))
        : this.#pass(address, client);
    lane.active += 1;
    this.#active += 1;
    return lane;
  }

  /** Ends a call. Connections of a call that began after `close` are closed with it. */
  leave(lane: OriginPool): void {
    lane.active -= 1;
    this.#active -= 1;
    if (this.#isClosed && lane.active === 0) this.#forget(lane);
  }

  /** Whether there are more calls than idle connections to keep, so that the next connection is closed after its response. */
  crowded(lane: OriginPool): boolean {
    const { maxIdlePerHost, maxIdle } = this.#settings;
    return lane.active > maxIdlePerHost || (maxIdle > 0 && this.#active > maxIdle);
  }

  /** Closes every connection after its pending response. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const lanes = [...this.#lanes.values(), ...this.#passing.values()];
    this.#lanes.clear();
    this.#passing.clear();
    await Promise.all(lanes.map((lane) => lane.dispatcher.close()));
  }

  #open(address: string): OriginPool {
    const lane = new OriginPool(address, this.#settings);
    if (this.#lanes.size >= SWEEP_FROM) {
      for (const known of this.#lanes.values()) if (known.unused) this.#forget(known);
    }
    this.#lanes.set(address, lane);
    return lane;
  }

  #pass(address: string, client?: string): OriginPool {
    const { passingIdleMs: idleMs } = this.#settings;
    const key = poolKey(address, client);
    const known = this.#passing.get(key);
    if (!known && this.#passing.size >= MAX_PASSING) this.#makeRoom();
    this.#passing.delete(key);
    // Without TLS, only configured addresses are assumed to support HTTP/2.
    const http2 = this.#settings.http2 && address.startsWith('https:');
    const lane = known ?? new OriginPool(address, { ...this.#settings, idleMs, http2 }, client);
    this.#passing.set(key, lane);
    return lane;
  }

  /** Closes the least recently used addresses. Those in use are moved to the end. */
  #makeRoom(): void {
    let looked = 0;
    for (const [key, lane] of this.#passing) {
      if (this.#passing.size < MAX_PASSING || looked++ === LOOKED_AT) return;
      if (lane.active === 0) {
        this.#forget(lane);
      } else {
        this.#passing.delete(key);
        this.#passing.set(key, lane);
      }
    }
  }

  #forget(lane: OriginPool): void {
    const { key } = lane;
    const lanes = [this.#lanes, this.#passing].find((known) => known.get(key) === lane);
    // `close` has already removed the address.
    if (!lanes) return;
    lanes.delete(key);
    void lane.dispatcher.close();
  }
}
