import { Masks } from '#contract';
import type { Compiled } from '../../pipeline/compile/compile.ts';
import type { Route } from '../../pipeline/compile/route.ts';
import { endpointId } from '../../runtime/prints/endpoint-prints.ts';
import { systemTimers, type Timers } from '../../runtime/watch/timers.ts';
import { EndpointObserver } from './endpoint-observer.ts';
import type { ObservedPart } from './observed-request.ts';

/** Time for which an endpoint is observed after a call of `take`, in milliseconds. */
const LEASE_MS = 5000;

/** Maximum number of endpoints that are observed at the same time. */
const MAX_OBSERVED = 64;

/** An observed endpoint. */
interface Observed {
  readonly observer: EndpointObserver;
  /** The endpoint in the configuration that it was last looked up in. */
  route: Route;
  compiled: Compiled;
  masks: Masks;
  /** Cancels the end of the lease. */
  cancel: () => void;
}

/** The observed endpoints of this process. An endpoint is observed only while `take` is called every few seconds. */
export class Observers {
  readonly #compiled: () => Compiled;
  readonly #timers: Timers;
  readonly #observed = new Map<string, Observed>();

  /** @param compiled returns the serving configuration. */
  constructor(compiled: () => Compiled, timers: Timers = systemTimers) {
    this.#compiled = compiled;
    this.#timers = timers;
  }

  /** Number of observed endpoints. */
  get size(): number {
    return this.#observed.size;
  }

  /**
   * Observes an endpoint for the next 5 seconds.
   * @returns what was observed since the previous call; null for an unknown endpoint, or if too many are observed.
   */
  take(id: string): ObservedPart | null {
    const compiled = this.#compiled();
    const known = this.#observed.get(id);
    const route = known?.compiled === compiled ? known.route : findRoute(compiled, id);
    if (!route || (!known && this.#observed.size >= MAX_OBSERVED)) {
      this.release(id);
      return null;
    }
    const observed = known ?? this.#open(id, route, compiled);
    if (observed.route !== route || observed.compiled !== compiled) {
      observed.route.traffic.observer = null;
      Object.assign(observed, { route, compiled, masks: masksOf(route, compiled) });
    }
    observed.observer.prepare(route);
    route.traffic.observer = observed.observer;
    observed.cancel();
    observed.cancel = this.#timers.after(LEASE_MS, () => this.release(id));
    const { observer, masks } = observed;
    return { pid: process.pid, ...observer.take(masks), stages: route.stages, states: route.states() };
  }

  /** Stops observing an endpoint. */
  release(id: string): void {
    const observed = this.#observed.get(id);
    if (!observed) return;
    this.#observed.delete(id);
    observed.cancel();
    observed.route.traffic.observer = null;
  }

  close(): void {
    for (const id of [...this.#observed.keys()]) this.release(id);
  }

  #open(id: string, route: Route, compiled: Compiled): Observed {
    const masks = masksOf(route, compiled);
    const observed = { observer: new EndpointObserver(() => this.#timers.now()), route, compiled, masks, cancel() {} };
    this.#observed.set(id, observed);
    return observed;
  }
}

function findRoute({ published }: Compiled, id: string): Route | undefined {
  return published.find(({ endpoint }) => endpointId(endpoint) === id);
}

/** Masks of an endpoint. Bodies in which declared names cannot be found are omitted. */
function masksOf({ credentials }: Route, { service }: Compiled): Masks {
  const usual = new Masks([]);
  const declared = [...service.flatMap(({ at }) => at.credentials ?? []), ...credentials];
  return new Masks(declared.filter((name) => !usual.isMasked(name)));
}
