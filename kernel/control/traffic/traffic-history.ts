import type { EndpointConfig } from '#contract';
import type { Route } from '../../pipeline/compile/route.ts';
import type { EndpointTraffic } from '../../pipeline/traffic/endpoint-traffic.ts';
import { TrafficReader } from '../../pipeline/traffic/traffic-reader.ts';
import { joined, noTraffic, type TrafficWindow } from '../../pipeline/traffic/window.ts';
import { endpointId } from '../../runtime/prints/endpoint-prints.ts';
import { systemTimers, type Timers } from '../../runtime/watch/timers.ts';

const SLICE_MS = 60_000;
/** Time span that `before` covers. */
export const REMEMBERED_MS = 5 * SLICE_MS;

interface Slice {
  readonly beganAt: number;
  readonly endedAt: number;
  /** Endpoints that had traffic. */
  readonly windows: ReadonlyMap<string, TrafficWindow>;
}

/** An endpoint of the active configuration with its traffic. Its `endpointId` stays the same after a reload. */
export type Served = Pick<Route, 'traffic'> & { readonly endpoint: Pick<EndpointConfig, 'method' | 'endpoint'> };

/** Traffic of every endpoint in the last minutes, minute by minute: twice the span that `before` covers. */
export class TrafficHistory {
  readonly #endpoints: () => Iterable<Served>;
  readonly #timers: Timers;
  #slices: Slice[] = [];
  /** Returns the traffic that is not yet part of a slice. */
  readonly #reader = new TrafficReader();
  #cancel: (() => void) | null = null;
  #runningSince: number;

  /** @param endpoints returns the endpoints that are active at the time of the call. */
  constructor(endpoints: () => Iterable<Served>, timers: Timers = systemTimers) {
    this.#endpoints = endpoints;
    this.#timers = timers;
    this.#runningSince = timers.now();
  }

  /** Ends a slice every minute from now on. Idempotent. */
  start(): void {
    this.#cancel ??= this.#timers.after(SLICE_MS, () => {
      this.#cancel = null;
      this.rotate();
      this.start();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Ends the current slice, so that `before` includes it. */
  rotate(): void {
    this.#end([]);
  }

  /**
   * Same as `rotate`, at a time that `since` will be queried for. Earlier marks are dropped: slices between them are
   * merged, so that there are few slices regardless of the number of marks.
   */
  mark(): void {
    const last = this.#slices.at(-1);
    this.#end(last && last.beganAt > this.#timers.now() - SLICE_MS ? this.#slices.splice(-1) : []);
  }

  /** @param earlier slices that are merged with the current one. */
  #end(earlier: readonly Slice[]): void {
    const windows = new Map<string, TrafficWindow>();
    for (const served of this.#endpoints()) {
      const { window } = this.#reader.take(served.traffic);
      if (window.calls > 0) windows.set(endpointId(served.endpoint), window);
    }
    for (const slice of earlier) {
      for (const [key, window] of slice.windows) windows.set(key, joined([window, windows.get(key) ?? noTraffic]));
    }
    const endedAt = this.#timers.now();
    const beganAt = earlier[0]?.beganAt ?? this.#runningSince;
    this.#runningSince = endedAt;
    this.#slices = this.#slices.filter((slice) => slice.endedAt > endedAt - 2 * REMEMBERED_MS);
    if (windows.size > 0) this.#slices.push({ beganAt, endedAt, windows });
  }

  /** Number of slices kept. */
  get size(): number {
    return this.#slices.length;
  }

  /**
   * Traffic of an endpoint in the five minutes before a time, from the slices that had ended at that time.
   * @param nowMs on the clock of the timers.
   */
  before(key: string, nowMs: number): TrafficWindow {
    const slices = this.#slices.filter(({ endedAt }) => endedAt <= nowMs && isRemembered(endedAt, nowMs));
    return joined(slices.map(({ windows }) => windows.get(key) ?? noTraffic));
  }

  /**
   * Traffic of an endpoint since the last mark, limited to the span that `before` covers.
   * @param traffic its current traffic. @param fromMs on the clock of the timers.
   */
  since(key: string, traffic: EndpointTraffic, fromMs: number): TrafficWindow {
    const slices = this.#slices.filter(({ endedAt }) => endedAt > fromMs);
    const running = this.#reader.peek(traffic);
    return joined([...slices.map(({ windows }) => windows.get(key) ?? noTraffic), running]);
  }
}

function isRemembered(endedAt: number, nowMs: number): boolean {
  return endedAt > nowMs - REMEMBERED_MS;
}
