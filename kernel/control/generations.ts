import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConfigError } from '#contract';
import { GatewayError } from '../contract/internal.ts';
import type { ApplicationLog } from '../logging/index.ts';
import { build } from '../runtime/build.ts';
import type { Asked, BuildContext } from '../runtime/config-build.ts';
import type { Phases } from '../runtime/phases.ts';
import type { ReadConfig } from '../runtime/read-config.ts';
import type { ReadFiles } from '../runtime/read-files.ts';
import type { Runtime } from '../runtime/runtime.ts';
import {
  createServingContext,
  ServingCell,
  type ServingContext,
  type ServingOptions,
} from '../server/serving-context.ts';
import { Draining, type DrainingGeneration } from './draining.ts';
import { type ListenTarget, type PortChange, PublicPort } from './public-port.ts';

export interface GenerationsOptions extends BuildContext, ServingOptions {
  readonly log: ApplicationLog;
  /** Told whether the process wants requests. */
  readonly readiness: { isDraining: boolean };
}

/** A configuration built and warmed up, its port open, that nothing serves yet. */
export interface Prepared {
  readonly runtime: Runtime;
  readonly warnings: readonly ConfigError[];
  /** The swap: from now on it serves. Synchronous. @returns addresses opened in the place of others. */
  commit(): { readonly rebound: readonly string[] };
  /** Gives everything back. */
  abort(): Promise<void>;
}

/** A configuration that has requests or could get some, as the admin API shows it. */
export interface GenerationInfo {
  readonly revision: number;
  readonly state: 'current' | 'draining';
  /** In flight. */
  readonly requests: number;
  /** Under way. */
  readonly streams: number;
  /** Milliseconds since it began to serve. */
  readonly ageMs: number;
}

/**
 * The configurations of one process: the one that serves, and those before it that have requests left. Each is built off
 * to the side, replaces the serving one in one assignment, and is released when its last request has ended.
 */
export class Generations {
  readonly #options: GenerationsOptions;
  readonly #cell = new ServingCell();
  readonly #draining: Draining;
  #servedFrom = 0;
  #closed = false;
  readonly #port: PublicPort;

  constructor(options: GenerationsOptions) {
    this.#options = options;
    this.#draining = new Draining(options.log);
    this.#port = new PublicPort({ serving: this.#cell, log: options.log });
  }

  get registry(): GenerationsOptions['registry'] {
    return this.#options.registry;
  }

  /** True from the first commit on. */
  get isServing(): boolean {
    return this.#cell.current !== null;
  }

  /** What serves. Only to be asked for after the first commit. */
  get current(): ServingContext {
    return this.#cell.current!;
  }

  /** Those before it that have requests left, oldest first. */
  get draining(): readonly DrainingGeneration[] {
    return this.#draining.generations;
  }

  /** The serving configuration, then those before it, newest first. */
  get held(): readonly GenerationInfo[] {
    const now = Date.now();
    const hold = ({ id, calls, streams }: Runtime, state: GenerationInfo['state'], servedFrom: number) => ({
      revision: id,
      state,
      requests: calls,
      streams,
      ageMs: now - servedFrom,
    });
    const draining = this.draining.toReversed();
    return [
      hold(this.current.runtime, 'current', this.#servedFrom),
      ...draining.map(({ runtime, servedFrom }) => hold(runtime, 'draining', servedFrom)),
    ];
  }

  /** Replaced configurations that were released and stay in memory nevertheless. */
  get leaked(): number {
    return this.#draining.leaked;
  }

  /** True while connections are closed after their answer. */
  get closing(): boolean {
    return this.#options.readiness.isDraining;
  }

  /** Streams under way, those that outlived their configuration included. */
  get streams(): number {
    return this.current.runtime.streams + this.#draining.streams.size;
  }

  /** Streams under way, by endpoint; those that are about to be ended do not count. */
  get streamsByEndpoint(): ReadonlyMap<string, number> {
    return this.#draining.streams.byEndpoint(this.current.runtime.compiled.routes);
  }

  /** Requests in flight, on every configuration. */
  get calls(): number {
    return (this.#cell.current?.runtime.calls ?? 0) + this.#draining.calls;
  }

  /** Requests and streams under way. */
  get inFlight(): number {
    return this.calls + this.streams;
  }

  /** Requests taken so far. */
  get requests(): number {
    return this.#cell.requests;
  }

  /** What another process may do with a shared value: as the configuration it serves says, else as the present one does. */
  shared(revision: number, id: string): ((asked: Asked) => Asked) | undefined {
    const serving = this.current.runtime;
    const runtimes = [serving, ...this.draining.map(({ runtime }) => runtime)];
    const asking = runtimes.find((runtime) => runtime.id === revision) ?? serving;
    return asking.shared.get(id) ?? serving.shared.get(id);
  }

  /** Requests aborted because their configuration had been replaced for too long. */
  get aborted(): number {
    return this.#draining.aborted;
  }

  /** Where clients connect; null before `listen`. */
  get address(): { readonly host: string; readonly port: number } | null {
    return this.#port.address;
  }

  /**
   * Builds a configuration, of what serves where that has not changed.
   * @param force build everything.
   * @throws ConfigErrors with every mistake; LISTENER_BIND, at the port, when a new address cannot be opened. Nothing is
   * then left of it.
   */
  async prepare(
    normalized: ReadConfig,
    files: ReadFiles,
    id: number,
    phases: Phases,
    force = false,
  ): Promise<Prepared> {
    const before = force ? null : this.#cell.current;
    const { runtime, warnings } = await build(normalized, files, this.#options, id, phases, before?.runtime);
    try {
      await nextTurn();
      const serving = await createServingContext(runtime, this.#options, before);
      await nextTurn();
      const port = await this.#port.prepare(runtime, normalized.origin);
      return {
        runtime,
        warnings,
        commit: () => this.#swap(serving, port),
        abort: async () => {
          await port.abort();
          await runtime.retire(this.#draining.logLeftover);
        },
      };
    } catch (error) {
      await runtime.retire(this.#draining.logLeftover);
      throw error;
    }
  }

  #swap(serving: ServingContext, port: PortChange): { rebound: readonly string[] } {
    const old = this.#cell.current;
    this.#options.log.configure(serving.logging.application);
    this.#cell.current = serving;
    const { rebound, closed } = port.commit(this.#shutdownWaitMs);
    this.#draining.track(closed);
    const servedFrom = this.#servedFrom;
    this.#servedFrom = Date.now();
    serving.runtime.start(this.#options.log);
    if (old) this.#draining.retire(old.runtime, servedFrom, () => this.current.runtime);
    return { rebound };
  }

  /** Waits until fewer than `limit` replaced configurations have requests left. */
  room(limit: number): Promise<void> {
    return this.#draining.room(limit);
  }

  get #shutdownWaitMs(): number {
    return this.#cell.current?.runtime.config.max_shutdown_wait_time || Number.POSITIVE_INFINITY;
  }

  /** Answers one request by what serves now. */
  get serve(): ServingCell['serve'] {
    return this.#cell.serve;
  }

  /** Resolves when nothing holds up the port any more. @throws GatewayError LISTEN_FAILED when it is closed meanwhile. */
  async ready(): Promise<void> {
    await this.current.runtime.ready();
    if (this.#closed) throw new GatewayError('LISTEN_FAILED', 'the gateway was closed before its port was open');
  }

  /** Opens the port. @throws GatewayError as of `PublicPort.open`. */
  listen(target?: ListenTarget): Promise<{ host: string; port: number }> {
    return this.#port.open(this.current.runtime, target);
  }

  /** Whether connections are closed after their answer, so that clients go elsewhere. */
  setClosing(closing: boolean): void {
    this.#options.readiness.isDraining = closing;
    this.#port.setClosing(closing);
  }

  /** Stops accepting, waits for requests in flight as long as the configuration says, and releases everything. */
  async close(): Promise<void> {
    const serving = this.#cell.current;
    this.#options.readiness.isDraining = true;
    this.#closed = true;
    serving?.runtime.endLasting();
    this.#draining.endLasting();
    await this.#port.close(this.#shutdownWaitMs);
    if (serving)
      this.#draining.track(serving.runtime.retire(this.#draining.logLeftover).then(() => serving.runtime.ended));
    await this.#draining.close();
  }
}
