import type { BackendConfig, PipeRequest, Reply, Step } from '#contract';
import { mapReply } from './map-reply.ts';

/** What the backends of an endpoint answered, by their names. Those that no configuration has any more are forgotten. */
export class BackendResponses {
  #byName: Map<string, StatusCounts> | null = null;
  #configured: readonly (readonly NamedBackend[])[] = none;

  /** Knows the backends of a configuration, until they are let go. */
  hold(backends: readonly NamedBackend[]): void {
    // A list of one is made as such: one that has grown has room for many.
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

  /** Those that have answered. */
  [Symbol.iterator](): Iterator<readonly [name: string, counts: StatusCounts]> {
    return (this.#byName ?? noResponses).entries();
  }
}

const none: readonly never[] = Object.freeze([]);
const noResponses: ReadonlyMap<string, StatusCounts> = new Map();

type NamedBackend = Pick<BackendConfig, 'method' | 'url_pattern'>;

/** What each backend is called among those of its endpoint, as in `GET /users/{id}`; a second of that name gets `#2`. */
export function backendNames(backends: readonly NamedBackend[]): string[] {
  const taken = new Map<string, number>();
  return backends.map(({ method, url_pattern }) => {
    const name = `${method} ${url_pattern}`;
    const count = (taken.get(name) ?? 0) + 1;
    taken.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  });
}

/** Counts every answer of a backend, also that there was none. */
export function countResponses(responses: BackendResponses, name: string, next: Step<PipeRequest>): Step<PipeRequest> {
  let counts: StatusCounts | null = null;
  const count = (reply: Reply): Reply => {
    counts ??= responses.of(name);
    counts.record(reply.upstreamStatus ?? 0);
    return reply;
  };
  return mapReply(next, count);
}

/** Classes in which answers are counted: `none` is no answer at all, 499 a client that left before it was answered. */
export const statusClasses = ['none', '1xx', '2xx', '3xx', '4xx', '5xx', '499'] as const;

const CLIENT_LEFT = 499;

/** How many answers there were of each of `statusClasses`. */
export class StatusCounts {
  #counts: number[] | null = null;
  #told: readonly number[] = noCounts;

  /** @param status 0 for no answer, as is what is no status: a plugin can answer with any number. */
  record(status: number): void {
    this.#counts ??= [...noCounts];
    const hundreds = Math.trunc(status / 100);
    const at = status === CLIENT_LEFT ? statusClasses.length - 1 : hundreds >= 1 && hundreds <= 5 ? hundreds : 0;
    this.#counts[at]!++;
  }

  /** Up to now, in the order of `statusClasses`. */
  snapshot(): readonly number[] {
    return this.#counts ? [...this.#counts] : noCounts;
  }

  /** Those since the last time it was asked. For one asker only. */
  takeDelta(): readonly number[] {
    const now = this.snapshot();
    const delta = now.map((count, at) => count - this.#told[at]!);
    this.#told = now;
    return delta;
  }

  /** Adds what another process has counted. */
  merge(delta: readonly number[]): void {
    this.#counts ??= [...noCounts];
    for (const [at, count] of delta.entries()) this.#counts[at]! += count;
  }
}

const noCounts: readonly number[] = statusClasses.map(() => 0);
