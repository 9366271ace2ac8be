import type { EndpointTraffic } from './endpoint-traffic.ts';
import { between, noTraffic, type TrafficWindow } from './window.ts';

/** Traffic of an endpoint since it was read before. */
export interface TrafficDelta {
  readonly window: TrafficWindow;
  /** Responses to clients, in the order of `statusClasses`; empty without traffic. */
  readonly statuses: readonly number[];
}

const nothing: TrafficDelta = { window: noTraffic, statuses: [] };

/** Reads the traffic of endpoints piece by piece. Each reader has positions of its own. */
export class TrafficReader {
  /** Counts that were already read. After a reload, an endpoint may have a new traffic object. */
  readonly #read = new WeakMap<EndpointTraffic, TrafficDelta>();

  /** Reads the traffic since the previous call for the same object; the first call reads all of it. */
  take(traffic: EndpointTraffic): TrafficDelta {
    const last = this.#read.get(traffic) ?? nothing;
    if (traffic.calls === last.window.calls) return nothing;
    const now: TrafficDelta = { window: traffic.snapshot(), statuses: traffic.statuses.snapshot() };
    this.#read.set(traffic, now);
    return {
      window: between(last.window, now.window),
      statuses: now.statuses.map((count, at) => count - (last.statuses[at] ?? 0)),
    };
  }

  /** Returns the traffic that the next call of `take` would return. */
  peek(traffic: EndpointTraffic): TrafficWindow {
    return between(this.#read.get(traffic)?.window ?? noTraffic, traffic.snapshot());
  }
}
