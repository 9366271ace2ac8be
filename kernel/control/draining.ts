import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ApplicationLog } from '../logging/index.ts';
import { instanceParts } from '../registry/loading/instance-parts.ts';
import type { FilePlugin } from '../registry/registry.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { createLeakGuard, type LeakGuard } from './leak-guard.ts';
import { reloadSettings } from './reload-settings.ts';
import { Streams } from './streams.ts';

/** A replaced configuration that still has requests. */
export interface DrainingGeneration {
  readonly runtime: Runtime;
  /** Time at which the configuration was replaced, in milliseconds since 1970. */
  readonly since: number;
  /** Time at which the configuration began to serve, in milliseconds since 1970. */
  readonly servedFrom: number;
}

/**
 * The replaced configurations of one process. Each is released when its last request has ended. Requests that take
 * longer than the next configuration allows are aborted. The leak guard observes each until it is garbage-collected.
 */
export class Draining {
  readonly #log: ApplicationLog;
  readonly #generations = new Set<DrainingGeneration>();
  readonly #ending = new Set<Promise<unknown>>();
  readonly #leakGuard: LeakGuard;
  /** Streams that continue after their configuration was replaced. */
  readonly streams = new Streams();
  #aborted = 0;
  #onDrained: (() => void)[] = [];

  constructor(log: ApplicationLog) {
    this.#log = log;
    this.#leakGuard = createLeakGuard({ log });
  }

  /** Replaced configurations that still have requests, oldest first. */
  get generations(): readonly DrainingGeneration[] {
    return [...this.#generations];
  }

  /** Requests in flight. */
  get calls(): number {
    let calls = 0;
    for (const { runtime } of this.#generations) calls += runtime.calls;
    return calls;
  }

  /** Requests aborted because their configuration had been replaced for too long. */
  get aborted(): number {
    return this.#aborted;
  }

  /** Configurations that were released but stay in memory. */
  get leaked(): number {
    return this.#leakGuard.leaked;
  }

  /**
   * Begins to drain a replaced configuration. @param current returns the active configuration. @param servedFrom
   * milliseconds since 1970.
   */
  retire(runtime: Runtime, servedFrom: number, current: () => Runtime): void {
    const { drainMs, streamDrainMs } = reloadSettings(current());
    const { routes } = runtime.compiled;
    const draining = { runtime, since: Date.now(), servedFrom };
    const follow = () => this.streams.follow(routes, current().compiled.routes, streamDrainMs);
    this.#generations.add(draining);
    follow();
    const retired = nextTurn()
      .then(() => runtime.retire(this.logLeftover, drainMs))
      .then((aborted) => {
        this.#generations.delete(draining);
        for (const resolve of this.#onDrained.splice(0)) resolve();
        if (aborted.length > 0) this.#logAborted(runtime, aborted);
        // Requests that were in progress at the last check may have become streams.
        follow();
        this.track(runtime.ended.then(() => this.#expectGone(runtime, current())));
      });
    this.track(retired);
  }

  /**
   * Expects the garbage collection of objects that only this configuration used: the configuration itself, and the
   * instances of its plugins from files.
   */
  #expectGone(runtime: Runtime, current: Runtime): void {
    const { sites } = runtime;
    this.#leakGuard.expectGone(runtime, runtime.id, () => [
      ...new Set(sites.filter(({ ref }) => ref.deref() !== undefined).map(({ plugin }) => describe(plugin))),
    ]);
    const alive = [current, ...[...this.#generations].map((generation) => generation.runtime)];
    const used = new Set(alive.flatMap(({ registry }) => registry.fromFiles.map(({ source }) => source)));
    for (const plugin of runtime.registry.fromFiles) {
      if (!used.has(plugin.source)) this.#leakGuard.expectFreed(instanceParts(plugin.source), describe(plugin));
    }
  }

  #logAborted({ id }: Runtime, aborted: readonly string[]): void {
    this.#aborted += aborted.length;
    const names = [...new Set(aborted)].join(', ');
    const requests = aborted.length === 1 ? '1 request' : `${aborted.length} requests`;
    this.#log.warning(`revision ${id}: ${requests} aborted, replaced for longer than drain_timeout: ${names}`);
  }

  readonly logLeftover = (error: unknown): void => this.#log.error(() => `failed to release resources: ${error}`);

  /** Makes `close` wait for this promise, too. */
  track(ending: Promise<unknown>): void {
    const tracked = ending.finally(() => this.#ending.delete(tracked));
    this.#ending.add(tracked);
  }

  /** Waits until fewer than `limit` replaced configurations have requests left. */
  async room(limit: number): Promise<void> {
    while (this.#generations.size >= limit) {
      await new Promise<void>((resolve) => {
        this.#onDrained.push(resolve);
      });
    }
  }

  /** Ends upgraded connections and long-lived responses gracefully. */
  endLasting(): void {
    for (const { runtime } of this.#generations) runtime.endLasting();
    this.streams.endLasting();
  }

  /** Waits until everything that is tracked has ended. */
  async close(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all(this.#ending);
    this.streams.close();
    this.#leakGuard.close();
  }
}

/** Formats a plugin, as in `plugin "acme/audit" (3f2a90c1b4de, /app/plugins/audit.ts)`. */
function describe({ name, source, handlers }: FilePlugin): string {
  const names = (handlers ?? [name]).map((each) => `"${each}"`).join(', ');
  return `plugin ${names} (${source.hash.slice(0, 12)}, ${source.file})`;
}
