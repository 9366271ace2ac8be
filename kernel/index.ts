import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DispatchFunc, InjectOptions, Response } from 'light-my-request';
import {
  type Catalogue,
  type ConfigError,
  ConfigErrors,
  copyData,
  type Data,
  type LogSinks,
  type ServiceConfig,
  type Services,
} from '#contract';
import { readDocument } from './config/index.ts';
import { type ApplicationLog, createLog, createSinks, joinLogging } from './logging/index.ts';
import { Registry } from './registry/registry.ts';
import { build, type Overrides } from './runtime/build.ts';
import type { Cell } from './runtime/cell.ts';
import { Keeper } from './runtime/keeper.ts';
import { referencedFiles } from './runtime/referenced-files.ts';
import type { Runtime } from './runtime/runtime.ts';
import type { Watcher } from './runtime/watch/index.ts';
import { type Listener, listen } from './server/listener.ts';
import { createServing, type Serving } from './server/serving.ts';
import { version } from './version.ts';

export { type Examined, examine, type Overrides } from './runtime/build.ts';
export { version } from './version.ts';

/** A configuration: the path of its file, or the object a file would hold. */
export type Source = string | object;

export interface GatewayOptions extends Overrides {
  /** Port to listen on instead of the configured one; 0 for any free port. */
  readonly port?: number;
  /** Where logs go. Default: the process's standard output and error. */
  readonly sinks?: LogSinks;
  /** Replaces services of the kernel, such as the clock. */
  readonly services?: Partial<Services>;
}

/** What a reload did. */
export interface Reloaded {
  /** Number of the configuration that serves now. */
  readonly revision: number;
  readonly warnings: readonly ConfigError[];
}

/** A gateway: serving as soon as it is made, to `inject`; to the network once it listens. */
export interface Gateway {
  readonly config: ServiceConfig;
  /** Mistakes of the serving configuration that did not refuse it. */
  readonly warnings: readonly ConfigError[];
  /** The revision that serves, its fingerprint, the requests it has in flight, and how many older ones still have some. */
  readonly status: {
    readonly revision: number;
    readonly hash: string;
    readonly calls: number;
    readonly draining: number;
  };
  /** Opens the port. @throws GatewayError LISTEN_FAILED. */
  listen(): Promise<{ host: string; port: number }>;
  /**
   * Puts another configuration in the place of the serving one; without one, the source is read again. Requests in flight
   * end on the configuration they began with. Calls wait for one another.
   * @throws ConfigErrors with every mistake; the old configuration then serves on, untouched.
   */
  reload(source?: Source): Promise<Reloaded>;
  /**
   * From now on a saved change of the configuration's file, or of a key or certificate it names, is applied; a broken
   * one is told in the log and the old configuration serves on. Needs a source that is a file.
   */
  watch(): Promise<void>;
  /** Answers a request without a socket. */
  inject(request: InjectOptions | string): Promise<Response>;
  /** Stops accepting, waits for requests in flight as long as the configuration says, and gives everything back. */
  close(): Promise<void>;
}

/** The data of a source. @throws ConfigErrors when its file cannot be read or parsed. */
async function readSource(source: Source): Promise<unknown> {
  return typeof source === 'string' ? (await readDocument(source)).data : copyData(source as Data);
}

/** Starts a gateway over a catalogue of plugins. */
export async function startGateway(
  catalogue: Catalogue,
  source: Source,
  options: GatewayOptions = {},
): Promise<Gateway> {
  const kernel = new Kernel(catalogue, source, options);
  await kernel.reload();
  return kernel;
}

class Kernel implements Gateway {
  readonly #options: GatewayOptions;
  readonly #sinks: LogSinks;
  readonly #log: ApplicationLog;
  readonly #registry: Registry;
  readonly #keeper = new Keeper();
  readonly #cell: Cell<Serving | null> = { current: null };
  #source: Source;
  #listener: Listener | null = null;
  #watcher: Watcher | null = null;
  #warnings: readonly ConfigError[] = [];
  #revision = 0;
  /** The end of the reload before: one at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly #retiring = new Set<Promise<void>>();

  constructor(catalogue: Catalogue, source: Source, options: GatewayOptions) {
    this.#source = source;
    this.#options = options;
    this.#sinks = options.sinks ?? createSinks();
    this.#log = createLog(joinLogging([], this.#sinks).application);
    this.#registry = new Registry(catalogue, {
      clock: { now: () => performance.now() },
      log: this.#log,
      sinks: this.#sinks,
      version,
      ...options.services,
    } as Services);
  }

  get config(): ServiceConfig {
    return this.#serving.runtime.config;
  }

  get warnings(): readonly ConfigError[] {
    return this.#warnings;
  }

  get status(): Gateway['status'] {
    const { id, hash, calls } = this.#serving.runtime;
    return { revision: id, hash, calls, draining: this.#retiring.size };
  }

  get #serving(): Serving {
    return this.#cell.current!;
  }

  reload(source?: Source): Promise<Reloaded> {
    const turn = this.#turn.then(() => this.#reload(source ?? this.#source));
    this.#turn = turn.then(
      ({ revision }) => revision > 1 && this.#log.info(`configuration ${revision} serves`),
      (error) =>
        this.#revision > 0 && this.#log.error(`configuration refused, ${this.#revision} serves on: ${tell(error)}`),
    );
    return turn;
  }

  async watch(): Promise<void> {
    if (typeof this.#source !== 'string' || this.#watcher) return;
    // Loaded after the port is open: the start waits for nothing that it does not need.
    const { watchFiles } = await import('./runtime/watch/index.ts');
    const watcher = watchFiles({ log: this.#log.at('[WATCH]'), onChange: () => this.#follow(watcher) });
    this.#watcher = watcher;
    await watcher.watch(this.#files);
  }

  /** Applies what was saved. */
  async #follow(watcher: Watcher): Promise<void> {
    const failed = await this.reload().then(
      () => false,
      () => true,
    );
    await watcher.watch(this.#files, { failed });
  }

  get #files(): string[] {
    return [...(typeof this.#source === 'string' ? [this.#source] : []), ...referencedFiles(this.config)];
  }

  async #reload(source: Source): Promise<Reloaded> {
    const data = await readSource(source);
    const id = this.#revision + 1;
    const { runtime, warnings } = await build(data, this.#options, this.#registry, this.#keeper, id);
    let serving: Serving;
    let listener: Listener | null;
    try {
      serving = await createServing(runtime, version, this.#log, this.#sinks);
      listener = await this.#rebind(runtime);
    } catch (error) {
      await runtime.retire(this.#tellLeftover);
      throw error;
    }
    this.#log.configure(serving.logging.application);
    const old = this.#cell.current;
    this.#cell.current = serving;
    this.#revision = id;
    this.#source = source;
    this.#warnings = warnings;
    for (const warning of warnings) this.#log.warning(`${warning.pointer || '/'} ${warning.code} ${warning.message}`);
    if (listener) this.#replaceListener(listener);
    if (old) this.#retire(old);
    return { revision: id, warnings };
  }

  /** A listener for a changed address, opened before the swap; null when the one there is stays. */
  async #rebind(runtime: Runtime): Promise<Listener | null> {
    const { config } = runtime;
    const listener = this.#listener;
    if (!listener) return null;
    const stays = listener.asked.ip === config.listen_ip && listener.asked.port === this.#portOf(config);
    if (!stays) return listen(runtime, this.#portOf(config), this.#serve, this.#log);
    listener.adjust(runtime);
    return null;
  }

  #replaceListener(listener: Listener): void {
    const old = this.#listener!;
    this.#listener = listener;
    this.#track(old.close(this.#shutdownWaitMs));
  }

  #retire(old: Serving): void {
    this.#track(old.runtime.retire(this.#tellLeftover));
  }

  readonly #tellLeftover = (error: unknown): void => this.#log.error(() => `giving back failed: ${error}`);

  #track(ending: Promise<void>): void {
    const tracked = ending.finally(() => this.#retiring.delete(tracked));
    this.#retiring.add(tracked);
  }

  get #shutdownWaitMs(): number {
    return this.config.max_shutdown_wait_time || Number.POSITIVE_INFINITY;
  }

  #portOf(config: ServiceConfig): number {
    return this.#options.port ?? (config.port || 8080);
  }

  readonly #serve = (message: IncomingMessage, response: ServerResponse): void => {
    this.#serving.serve(message, response);
  };

  async listen(): Promise<{ host: string; port: number }> {
    this.#listener ??= await listen(this.#serving.runtime, this.#portOf(this.config), this.#serve, this.#log);
    const { host, port } = this.#listener;
    this.#log.info(`Listening on port: ${port}`);
    return { host, port };
  }

  async inject(request: InjectOptions | string): Promise<Response> {
    // Loaded when first used: a gateway that serves the network needs it never.
    const { inject } = await import('light-my-request');
    return inject(this.#serve as DispatchFunc, request);
  }

  async close(): Promise<void> {
    await this.#watcher?.close();
    await this.#turn;
    const serving = this.#cell.current;
    await this.#listener?.close(this.#shutdownWaitMs);
    this.#listener = null;
    if (serving) this.#retire(serving);
    await Promise.all(this.#retiring);
    await this.#registry.close();
  }
}

/** Every mistake of a refused configuration with its pointer, in one line. */
function tell(error: unknown): string {
  if (!(error instanceof ConfigErrors)) return error instanceof Error ? error.message : String(error);
  return error.errors.map(({ pointer, message }) => (pointer ? `${pointer} ${message}` : message)).join('; ');
}
