import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConfigError } from '#contract';
import { GatewayError } from '../contract/internal.ts';
import type { ApplicationLog } from '../logging/index.ts';
import { build } from '../runtime/build/build.ts';
import type { BuildContext, Question } from '../runtime/build/config-build.ts';
import type { Phases } from '../runtime/build/phases.ts';
import type { ReadConfig } from '../runtime/build/read-config.ts';
import type { ReadFiles } from '../runtime/prints/read-files.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Sampling } from '../server/exchange/sample.ts';
import {
  createServingContext,
  ServingCell,
  type ServingContext,
  type ServingOptions,
} from '../server/exchange/serving-context.ts';
import { Draining, type DrainingGeneration } from './draining.ts';
import { type ListenTarget, type PortChange, PublicPort } from './public-port.ts';

export interface GenerationsOptions extends BuildContext, ServingOptions {
  readonly log: ApplicationLog;
  /** Receives whether the process accepts requests. */
  readonly readiness: { isDraining: boolean };
}

/** A configuration that has been built and warmed up, with its port open, but does not serve yet. */
export interface Prepared {
  readonly runtime: Runtime;
  readonly warnings: readonly ConfigError[];
  /** Makes the configuration serve. Synchronous. @returns addresses that were opened in place of others. */
  commit(): { readonly rebound: readonly string[] };
  /** Releases everything that was prepared. */
  abort(): Promise<void>;
}

/** A configuration that has requests or could receive some, as shown by the admin API. */
export interface GenerationInfo {
  readonly revision: number;
  readonly state: 'current' | 'draining';
  /** Number of requests in flight. */
  readonly requests: number;
  /** Number of active streams. */
  readonly streams: number;
  /** Milliseconds since the configuration began to serve. */
  readonly ageMs: number;
}

/**
 * The configurations of one process: the serving one, and its predecessors that have requests left. Each is built on
 * the side, replaces the serving one in one assignment, and is released when its last request has ended.
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

  /** Context of every build of this process. */
  get context(): BuildContext {
    return this.#options;
  }

  /** True once the process has an active configuration. */
  get isServing(): boolean {
    return this.#cell.current !== null;
  }

  /** The serving configuration. Must not be read before the first commit. */
  get current(): ServingContext {
    return this.#cell.current!;
  }

  /** Predecessors that have requests left, oldest first. */
  get draining(): readonly DrainingGeneration[] {
    return this.#draining.generations;
  }

  /** The serving configuration, then its predecessors, newest first. */
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

  /** Connections closed for a missing or malformed PROXY protocol header. */
  get headerFaults(): number {
    return this.#port.headerFaults.count;
  }

  /** Replaced configurations that were released but stay in memory. */
  get leaked(): number {
    return this.#draining.leaked;
  }

  /** True while connections are closed after their response. */
  get closing(): boolean {
    return this.#options.readiness.isDraining;
  }

  /** Active streams, including those that outlived their configuration. */
  get streams(): number {
    return this.current.runtime.streams + this.#draining.streams.size;
  }

  /** Open connections of clients. */
  get connections(): number {
    return this.#port.connections;
  }

  /** Active streams by endpoint, without those that are about to be ended. */
  get streamsByEndpoint(): ReadonlyMap<string, number> {
    return this.#draining.streams.byEndpoint(this.current.runtime.compiled.routes);
  }

  /** Requests in flight, across all configurations. */
  get calls(): number {
    return (this.#cell.current?.runtime.calls ?? 0) + this.#draining.calls;
  }

  /** Number of requests and streams in progress. */
  get inFlight(): number {
    return this.calls + this.streams;
  }

  /** Number of requests received so far. */
  get requests(): number {
    return this.#cell.requests;
  }

  /**
   * Finds the operation on a shared value for another process, with the settings of the configuration that the other
   * process serves, or of the current one.
   */
  shared(revision: number, id: string): ((question: Question) => Question) | undefined {
    const serving = this.current.runtime;
    const runtimes = [serving, ...this.draining.map(({ runtime }) => runtime)];
    const asking = runtimes.find((runtime) => runtime.id === revision) ?? serving;
    return asking.shared.get(id) ?? serving.shared.get(id);
  }

  /** Requests aborted because their configuration had been replaced for too long. */
  get aborted(): number {
    return this.#draining.aborted;
  }

  /** Listening address; null before `listen`. */
  get address(): { readonly host: string; readonly port: number } | null {
    return this.#port.address;
  }

  /**
   * Builds a configuration, reusing unchanged parts of the serving one.
   * @param force build everything.
   * @throws ConfigErrors with every error; LISTENER_BIND, at the port, when a new address cannot be opened. In both
   * cases everything is released.
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

  /** Samples requests of clients for a process that repeats them; null ends this. */
  sample(sampling: Sampling | null): void {
    this.#cell.sample(sampling);
  }

  /** Handles one request with the serving configuration. */
  get serve(): ServingCell['serve'] {
    return this.#cell.serve;
  }

  /** Resolves when nothing delays opening the port. @throws GatewayError LISTEN_FAILED if the port is closed during the wait. */
  async ready(): Promise<void> {
    await this.current.runtime.ready();
    if (this.#closed) throw new GatewayError('LISTEN_FAILED', 'the gateway was closed before its port was open');
  }

  /** Opens the port. @throws GatewayError see `PublicPort.open`. */
  listen(target?: ListenTarget): Promise<{ host: string; port: number }> {
    return this.#port.open(this.current.runtime, target);
  }

  /** Sets whether connections are closed after their next response, so that clients reconnect elsewhere. */
  setClosing(closing: boolean): void {
    this.#options.readiness.isDraining = closing;
    this.#port.setClosing(closing);
  }

  /** Stops accepting, waits for requests in flight as long as the configuration allows, and releases everything. */
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
