import type { BackendConfig, PipeRequest, Reply, Step } from '#contract';
import { mapReply } from './map-reply.ts';

/** What the backends of an endpoint answered, by their names. Those that no configuration has any more are forgotten. */
export class BackendResponses {
  #byName: Map<string, StatusCounts> | null = null;
  #configured: readonly (readonly string[])[] = [];

  /** Knows the backends of a configuration. @returns gives them back. */
  hold(names: readonly string[]): () => void {
    this.#configured = this.#configured.concat([names]);
    return () => {
      this.#configured = this.#configured.filter((held) => held !== names);
      for (const name of this.#byName?.keys() ?? []) {
        if (!this.#configured.some((held) => held.includes(name))) this.#byName!.delete(name);
      }
    };
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

const noResponses: ReadonlyMap<string, StatusCounts> = new Map();

/** What each backend is called among those of its endpoint, as in `GET /users/{id}`; a second of that name gets `#2`. */
export function backendNames(backends: readonly BackendConfig[]): string[] {
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
  #told: readonly number[] = none;

  /** @param status 0 for no answer. */
  record(status: number): void {
    this.#counts ??= [...none];
    this.#counts[status === CLIENT_LEFT ? statusClasses.length - 1 : Math.trunc(status / 100)]!++;
  }

  /** Up to now, in the order of `statusClasses`. */
  snapshot(): readonly number[] {
    return this.#counts ? [...this.#counts] : none;
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
    this.#counts ??= [...none];
    for (const [at, count] of delta.entries()) this.#counts[at]! += count;
  }
}

const none: readonly number[] = statusClasses.map(() => 0);
