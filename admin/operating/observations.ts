import type { Readable } from 'node:stream';
import { endpointId, type Operations, quantile, statusClasses, type Timers, TrafficReader } from '#kernel';
import { type EventStream, openEventStream } from './event-stream.ts';
import { type RequestView, requestsOf, withoutMessages } from './observed-view.ts';

/** A client that observes an endpoint. */
export interface ObservationRequest {
  /** Endpoint, as in `GET /users`. */
  readonly endpoint: string;
  /** Whether the client may see headers and bodies. */
  readonly showsMessages: boolean;
  /** Called with every heartbeat; false closes the stream. */
  isPermitted(): Promise<boolean>;
}

/** Streams of observed endpoints. */
export interface Observations {
  /** Number of observed endpoints. */
  readonly size: number;
  /** Opens a stream. @returns null for an unknown endpoint; 'busy' if too many endpoints are observed. */
  open(request: ObservationRequest): Readable | null | 'busy';
  /** Closes all streams gracefully. */
  close(): void;
}

/** Time between two events, in milliseconds. */
const EVERY_MS = 500;

/** Maximum number of endpoints that are observed at the same time. */
const MAX_ENDPOINTS = 16;

type Route = Operations['serving']['compiled']['published'][number];

export function openObservations(gateway: Operations, timers: Timers): Observations {
  const observed = new Map<string, EndpointObservation>();
  return {
    get size() {
      return observed.size;
    },
    open({ endpoint, showsMessages, isPermitted }) {
      if (!routeOf(gateway, endpoint)) return null;
      let observation = observed.get(endpoint);
      if (!observation) {
        if (observed.size >= MAX_ENDPOINTS) return 'busy';
        observation = new EndpointObservation(gateway, timers, endpoint, () => observed.delete(endpoint));
        observed.set(endpoint, observation);
      }
      return observation.open(showsMessages, isPermitted);
    },
    close() {
      for (const observation of observed.values()) observation.close();
    },
  };
}

function routeOf({ serving }: Operations, id: string): Route | undefined {
  return serving.compiled.published.find(({ endpoint }) => endpointId(endpoint) === id);
}

/** Observes one endpoint in all processes until its last stream is closed. */
class EndpointObservation {
  readonly #gateway: Operations;
  readonly #timers: Timers;
  readonly #id: string;
  readonly #onEnd: () => void;
  /** Streams, with whether they show headers and bodies. */
  readonly #streams = new Map<EventStream, boolean>();
  readonly #traffic = new TrafficReader();
  #route: Route | undefined;
  #routeIn: unknown = null;
  #countedAt: number;
  #ticks = 0;
  #cancel = () => {};

  constructor(gateway: Operations, timers: Timers, id: string, onEnd: () => void) {
    this.#gateway = gateway;
    this.#timers = timers;
    this.#id = id;
    this.#onEnd = onEnd;
    this.#countedAt = timers.now();
    this.#traffic.take(this.#currentRoute()!.traffic);
    this.#run();
  }

  open(showsMessages: boolean, isPermitted: () => Promise<boolean>): Readable {
    const closed = (): void => {
      this.#streams.delete(stream);
      if (this.#streams.size === 0) this.#end();
    };
    const stream = openEventStream({ isPermitted, closed }, this.#timers);
    this.#streams.set(stream, showsMessages);
    return stream.body;
  }

  close(): void {
    for (const stream of [...this.#streams.keys()]) stream.end();
  }

  #end(): void {
    this.#cancel();
    this.#gateway.processes.unobserve(this.#id);
    this.#onEnd();
  }

  #currentRoute(): Route | undefined {
    const { compiled } = this.#gateway.serving;
    if (this.#routeIn !== compiled) {
      this.#routeIn = compiled;
      this.#route = routeOf(this.#gateway, this.#id);
    }
    return this.#route;
  }

  #run(): void {
    this.#tick().catch((error: Error) => {
      this.#gateway.log.error(() => `[ADMIN] observation of ${this.#id} failed: ${error.stack}`);
      this.close();
    });
  }

  async #tick(): Promise<void> {
    const parts = await this.#gateway.processes.observe(this.#id);
    if (this.#streams.size === 0) return this.#gateway.processes.unobserve(this.#id);
    const route = this.#currentRoute();
    // The client learns from its next request that the endpoint was removed.
    if (!route) return this.close();
    const own = parts.some(({ pid }) => pid === process.pid) ? [] : [{ pid: process.pid, states: route.states() }];
    const requests = requestsOf(parts);
    const event = {
      at: Date.now(),
      revision: this.#gateway.status.revision,
      port: this.#gateway.processes.port,
      secure: this.#gateway.config.tls !== undefined,
      finished: parts.reduce((sum, { finished }) => sum + finished, 0),
      statusClasses,
      counters: {
        calls: route.traffic.calls,
        errors: route.traffic.errors,
        streams: this.#gateway.processes.streamsByEndpoint.get(this.#id) ?? 0,
      },
      traffic: this.#ticks++ % 2 === 0 ? null : this.#takeTraffic(route),
      stages: route.stages,
      states: [...own, ...parts].flatMap(({ pid, states }) => states.map((state) => ({ pid, ...state }))),
    };
    for (const [stream, showsMessages] of [...this.#streams]) {
      stream.send(frame({ ...event, requests: showsMessages ? requests : requests.map(withoutMessages) }));
    }
    if (this.#streams.size > 0) this.#cancel = this.#timers.after(EVERY_MS, () => this.#run());
  }

  /** Traffic since the previous call: workers report theirs once a second. */
  #takeTraffic({ traffic }: Route) {
    const { window, statuses } = this.#traffic.take(traffic);
    const now = this.#timers.now();
    const durationMs = Math.max(1, Math.round(now - this.#countedAt));
    this.#countedAt = now;
    const { calls, errors } = window;
    const [p50Ms, p95Ms, p99Ms] = [0.5, 0.95, 0.99].map((share) => quantile(window, share));
    return { durationMs, calls, errors, statuses, p50Ms, p95Ms, p99Ms };
  }
}

function frame(event: { readonly requests: readonly RequestView[] }): string {
  return `event: observation\ndata: ${JSON.stringify(event)}\n\n`;
}
