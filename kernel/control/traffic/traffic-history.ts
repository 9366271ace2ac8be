import type { EndpointConfig } from '#contract';
import type { EndpointTraffic } from '../../pipeline/endpoint-traffic.ts';
import type { Route } from '../../pipeline/route.ts';
import { between, joined, noTraffic, type TrafficWindow } from '../../pipeline/traffic-window.ts';
import { endpointId } from '../../runtime/endpoint-prints.ts';
import { systemTimers, type Timers } from '../../runtime/watch/timers.ts';

const SLICE_MS = 60_000;
/** How far back `before` looks. */
export const REMEMBERED_MS = 5 * SLICE_MS;

interface Slice {
  readonly beganAt: number;
  readonly endedAt: number;
  /** Endpoints that had traffic. */
  readonly windows: ReadonlyMap<string, TrafficWindow>;
}

/** An endpoint that serves, and what it has served. Its `endpointId` outlives a reload. */
export type Served = Pick<Route, 'traffic'> & { readonly endpoint: Pick<EndpointConfig, 'method' | 'endpoint'> };

/** What every endpoint served in the last minutes, minute by minute: twice as many as `before` looks back. */
export class TrafficHistory {
  readonly #endpoints: () => Iterable<Served>;
  readonly #timers: Timers;
  #slices: Slice[] = [];
  /** What of each traffic is in the slices already. A configuration may bring new traffic under an old key. */
  readonly #counted = new WeakMap<EndpointTraffic, TrafficWindow>();
  #cancel: (() => void) | null = null;
  #runningSince: number;

  /** @param endpoints what serves at the moment it is called. */
  constructor(endpoints: () => Iterable<Served>, timers: Timers = systemTimers) {
    this.#endpoints = endpoints;
    this.#timers = timers;
    this.#runningSince = timers.now();
  }

  /** Ends a slice every minute from now on. Starting twice is starting once. */
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

  /** Ends the running slice, so that `before` knows of it. */
  rotate(): void {
    this.#end([]);
  }

  /**
   * As `rotate`, at a moment that `since` will be asked about. The moments before it are not any more: slices between them
   * become one, so that however many moments there are, there are few slices.
   */
  mark(): void {
    const last = this.#slices.at(-1);
    this.#end(last && last.beganAt > this.#timers.now() - SLICE_MS ? this.#slices.splice(-1) : []);
  }

  /** @param earlier slices that become one with the running one. */
  #end(earlier: readonly Slice[]): void {
    const windows = new Map<string, TrafficWindow>();
    for (const served of this.#endpoints()) {
      const { traffic } = served;
      const counted = traffic.calls === 0 ? noTraffic : (this.#counted.get(traffic) ?? noTraffic);
      if (traffic.calls === counted.calls) continue;
      const now = traffic.snapshot();
      this.#counted.set(traffic, now);
      windows.set(endpointId(served.endpoint), between(counted, now));
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

  /** Slices remembered. */
  get size(): number {
    return this.#slices.length;
  }

  /**
   * What an endpoint served in the five minutes before a moment: the slices that had ended by then.
   * @param nowMs on the clock of the timers.
   */
  before(key: string, nowMs: number): TrafficWindow {
    const slices = this.#slices.filter(({ endedAt }) => endedAt <= nowMs && isRemembered(endedAt, nowMs));
    return joined(slices.map(({ windows }) => windows.get(key) ?? noTraffic));
  }

  /**
   * What an endpoint has served since the last mark, not longer ago than `before` looks back.
   * @param traffic its present one. @param fromMs on the clock of the timers.
   */
  since(key: string, traffic: EndpointTraffic, fromMs: number): TrafficWindow {
    const slices = this.#slices.filter(({ endedAt }) => endedAt > fromMs);
    const running = between(this.#counted.get(traffic) ?? noTraffic, traffic.snapshot());
    return joined([...slices.map(({ windows }) => windows.get(key) ?? noTraffic), running]);
  }
}

function isRemembered(endedAt: number, nowMs: number): boolean {
  return endedAt > nowMs - REMEMBERED_MS;
}
