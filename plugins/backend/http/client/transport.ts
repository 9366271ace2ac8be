import { OriginPool, type TransportSettings } from './origin-pool.ts';

/** Addresses of a configuration known before unused ones are forgotten: discovery can make any number of them. */
const SWEEP_FROM = 64;
/** Addresses of requests whose unused connections are kept. */
const MAX_PASSING = 256;
/** Addresses looked at to make room for another one. */
const LOOKED_AT = 16;

/** The connections of one set of settings. */
export class Transport {
  #settings: TransportSettings;
  #lanes = new Map<string, OriginPool>();
  /** To addresses that requests or redirects named, the one that was used last at the end. */
  #passing = new Map<string, OriginPool>();
  #active = 0;
  #isClosed = false;

  constructor(settings: TransportSettings) {
    this.#settings = settings;
  }

  /**
   * Enters a call into the lane of an address, as in `http://host:port`; `leave` must follow.
   * @param isPassing a request or a redirect has named the address, not the configuration.
   * @throws Error when the address cannot be called.
   */
  enter(address: string, isPassing: boolean): OriginPool {
    const lane = this.#lanes.get(address) ?? (isPassing ? this.#pass(address) : this.#open(address));
    lane.active += 1;
    this.#active += 1;
    return lane;
  }

  /** A call has ended. One that began after everything was closed leaves nothing behind. */
  leave(lane: OriginPool): void {
    lane.active -= 1;
    this.#active -= 1;
    if (this.#isClosed && lane.active === 0) this.#forget(lane);
  }

  /** True when there are more calls than connections to keep: the connection of the next is closed after its answer. */
  crowded(lane: OriginPool): boolean {
    const { maxIdlePerHost, maxIdle } = this.#settings;
    return lane.active > maxIdlePerHost || (maxIdle > 0 && this.#active > maxIdle);
  }

  /** Closes every connection, each after the answer it waits for. */
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

  #pass(address: string): OriginPool {
    const { passingIdleMs: idleMs } = this.#settings;
    const known = this.#passing.get(address);
    if (!known && this.#passing.size >= MAX_PASSING) this.#makeRoom();
    this.#passing.delete(address);
    // That an address without TLS knows HTTP/2 is said of those of the configuration alone.
    const http2 = this.#settings.http2 && address.startsWith('https:');
    const lane = known ?? new OriginPool(address, { ...this.#settings, idleMs, http2 });
    this.#passing.set(address, lane);
    return lane;
  }

  /** Closes what was used longest ago; what is in use is looked at again later. */
  #makeRoom(): void {
    let looked = 0;
    for (const [address, lane] of this.#passing) {
      if (this.#passing.size < MAX_PASSING || looked++ === LOOKED_AT) return;
      if (lane.active === 0) {
        this.#forget(lane);
      } else {
        this.#passing.delete(address);
        this.#passing.set(address, lane);
      }
    }
  }

  #forget(lane: OriginPool): void {
    const { address } = lane;
    const lanes = [this.#lanes, this.#passing].find((known) => known.get(address) === lane);
    // One that was closed with everything is in neither.
    if (!lanes) return;
    lanes.delete(address);
    void lane.dispatcher.close();
  }
}
