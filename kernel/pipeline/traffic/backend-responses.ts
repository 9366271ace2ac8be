import type { BackendConfig, PipeRequest, Reply, Step } from '#contract';
import { mapReply } from '../backend/map-reply.ts';

/**
 * Response counts of an endpoint's backends, by name. Counts of backends that are no longer in any configuration are
 * removed.
 */
export class BackendResponses {
  #byName: Map<string, StatusCounts> | null = null;
  #configured: readonly (readonly NamedBackend[])[] = none;

  /** Registers the backends of a configuration until `letGo`. */
  hold(backends: readonly NamedBackend[]): void {
    // A literal takes the exact size, whereas an array that has grown reserves space for more elements.
    this.#configured = this.#configured.length === 0 ? [backends] : [...this.#configured, backends];
  }

  letGo(backends: readonly NamedBackend[]): void {
    const at = this.#configured.indexOf(backends);
    this.#configured = this.#configured.toSpliced(at, 1);
    if (!this.#byName) return;
    const names = new Set(this.#configured.flatMap(backendNames));
    for (const name of this.#byName.keys()) if (!names.has(name)) this.#byName.delete(name);
  }

  of(name: string): StatusCounts {
    this.#byName ??= new Map();
    let counts = this.#byName.get(name);
    if (!counts) {
      counts = new StatusCounts();
      this.#byName.set(name, counts);
    }
    return counts;
  }

  /** Iterates over the counts of the backends that have responded. */
  [Symbol.iterator](): Iterator<readonly [name: string, counts: StatusCounts]> {
    return (this.#byName ?? noResponses).entries();
  }
}

const none: readonly never[] = Object.freeze([]);
const noResponses: ReadonlyMap<string, StatusCounts> = new Map();

type NamedBackend = Pick<BackendConfig, 'method' | 'url_pattern'>;

/** Names of backends within their endpoint, for example `GET /users/{id}`; a repeated name gets `#2` and so on. */
export function backendNames(backends: readonly NamedBackend[]): string[] {
  const taken = new Map<string, number>();
  return backends.map(({ method, url_pattern }) => {
    const name = `${method} ${url_pattern}`;
    const count = (taken.get(name) ?? 0) + 1;
    taken.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  });
}

/** Counts every response of a backend, and calls without a response. */
export function countResponses(responses: BackendResponses, name: string, next: Step<PipeRequest>): Step<PipeRequest> {
  let counts: StatusCounts | null = null;
  const count = (reply: Reply): Reply => {
    counts ??= responses.of(name);
    counts.record(reply.upstreamStatus ?? 0);
    return reply;
  };
  return mapReply(next, count);
}

/** Response classes: `none` for no response, 499 for a client that disconnected before the response. */
export const statusClasses = ['none', '1xx', '2xx', '3xx', '4xx', '5xx', '499'] as const;

const CLIENT_LEFT = 499;

/** Number of responses in each of `statusClasses`. */
export class StatusCounts {
  #counts: number[] | null = null;
  #reported: readonly number[] = noCounts;

  /** @param status 0 for no response. Plugins can return any number; an invalid status counts as 0. */
  record(status: number): void {
    this.#counts ??= [...noCounts];
    const hundreds = Math.trunc(status / 100);
    const at = status === CLIENT_LEFT ? statusClasses.length - 1 : hundreds >= 1 && hundreds <= 5 ? hundreds : 0;
    this.#counts[at]!++;
  }

  /** Counts so far, in the order of `statusClasses`. */
  snapshot(): readonly number[] {
    return this.#counts ? [...this.#counts] : noCounts;
  }

  /** Counts since the previous call. For a single consumer only. */
  takeDelta(): readonly number[] {
    const now = this.snapshot();
    const delta = now.map((count, at) => count - this.#reported[at]!);
    this.#reported = now;
    return delta;
  }

  /** Adds the counts of another process. */
  merge(delta: readonly number[]): void {
    this.#counts ??= [...noCounts];
    for (const [at, count] of delta.entries()) this.#counts[at]! += count;
  }
}

const noCounts: readonly number[] = statusClasses.map(() => 0);
