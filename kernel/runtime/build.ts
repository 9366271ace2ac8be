import { ConfigError, ConfigErrors, type Data, GatewayError, type ServiceConfig, type Services } from '#contract';
import { type Normalized, normalizeInSlices, untold } from '../config/index.ts';
import { type Compiled, compile } from '../pipeline/compile.ts';
import type { Build } from '../pipeline/site.ts';
import { isUnread } from '../pipeline/unread-file.ts';
import type { Registry } from '../registry/registry.ts';
import { EndpointHold } from './endpoint-hold.ts';
import { type Holder, Keeper, keptId } from './keeper.ts';
import type { Phases } from './phases.ts';
import { NamedFiles, ReadFiles } from './read-files.ts';
import { Runtime } from './runtime.ts';
import { Scope } from './scope.ts';
import { readServerTls, type ServerTls } from './tls.ts';
import type { FileRead } from './watch/index.ts';

/** What the command line adds to a configuration. */
export interface Overrides {
  /** Replaces the configured port. */
  readonly port?: number;
  /** Enables `/__debug/`. */
  readonly debug?: boolean;
}

/** Asks the process that owns a shared value. @param revision of the configuration that asks. @param id of the value. */
export type Ask = (revision: number, id: string, asked: Data) => Promise<Data>;

/** What every build of a process works with. */
export interface Means {
  readonly registry: Registry;
  readonly keeper: Keeper;
  /** For a process that owns no shared values. */
  readonly ask?: Ask | undefined;
}

export interface Built {
  readonly runtime: Runtime;
  readonly warnings: readonly ConfigError[];
}

/** Longest time for all warm-ups of one build, in milliseconds. */
const WARM_UP_MS = 10_000;

/** The document with the environment and the command line over it, checked and completed. */
export function readConfig(data: unknown, overrides: Overrides): Promise<Normalized> {
  return normalizeInSlices(data, { ...overrides, env: process.env });
}

/**
 * Builds a runtime off to the side: nothing outside its own scope is touched, and a failure gives everything back.
 *
 * @param files what the attempt reads; every file is noted there, also when the build fails.
 * @throws ConfigErrors with every mistake found.
 */
export async function build(
  normalized: Normalized,
  files: ReadFiles,
  means: Means,
  id: number,
  phases: Phases,
): Promise<Built> {
  // With mistakes in what is written, building only looks for more of them.
  if (normalized.errors.length === 0) phases.enter('build');
  const assembly = new Assembly(normalized, files, means, id);
  try {
    const { compiled, tls } = await assembly.compile();
    if (assembly.errors.length > 0) throw new ConfigErrors(assembly.errors);
    phases.enter('warmup');
    await warmUp(assembly.warmups);
    const { config } = normalized;
    const runtime = new Runtime({ id, config, compiled, tls, files: files.reads, ...assembly.held });
    return { runtime, warnings: assembly.warnings };
  } catch (error) {
    await assembly.giveBack();
    throw error;
  }
}

/** What an examination found. */
export interface Examined {
  readonly config: ServiceConfig;
  readonly compiled: Compiled;
  readonly errors: readonly ConfigError[];
  readonly warnings: readonly ConfigError[];
  /** The step that found the mistakes, or the last one. */
  readonly phase: 'validate' | 'build';
  /** The pointer in the document of what stands at a pointer of `config`. */
  readonly origin: (pointer: string) => string;
  /** Every file that was read. */
  readonly files: readonly FileRead[];
  /** The files that the configuration names and that were not read, as they are written. */
  readonly unread: readonly string[];
}

/**
 * Looks for every mistake of a configuration and keeps nothing. Every component builds itself; nothing is asked of the
 * network.
 * @param reading also read the files that the configuration names: certificates, keys.
 */
export async function examine(
  data: unknown,
  overrides: Overrides,
  registry: Registry,
  reading: boolean,
): Promise<Examined> {
  const normalized = await readConfig(data, overrides);
  const { config, origin } = normalized;
  const named = new NamedFiles();
  const files = reading ? new ReadFiles() : named;
  const assembly = new Assembly(normalized, files, { registry, keeper: new Keeper() }, 0);
  const phase = normalized.errors.length > 0 ? 'validate' : 'build';
  try {
    const { compiled } = await assembly.compile();
    const { errors, warnings } = assembly;
    return { config, compiled, errors, warnings, phase, origin, files: files.reads, unread: [...named.names] };
  } finally {
    await assembly.giveBack();
  }
}

/** One configuration on its way from data to functions, with all it acquires. */
class Assembly {
  readonly warmups: Build['warmups'] = [];
  readonly normalized: Normalized;
  readonly files: ReadFiles;
  readonly means: Means;
  readonly revision: number;
  readonly scope = new Scope();
  readonly holds: EndpointHold[] = [];
  readonly shared = new Map<string, (asked: Data) => Data>();
  readonly found: ConfigError[] = [];
  readonly noticed: ConfigError[] = [];

  constructor(normalized: Normalized, files: ReadFiles, means: Means, revision: number) {
    this.normalized = normalized;
    this.files = files;
    this.means = means;
    this.revision = revision;
  }

  /** Every mistake found so far, at its place in the document. */
  get errors(): readonly ConfigError[] {
    const { errors } = this.normalized;
    const found = [...new Set(this.found)].filter((error) => !isUnread(error));
    // What is told of already may have led a component astray at the same place.
    return [...errors, ...untold(found.map(this.#place), errors)];
  }

  get warnings(): readonly ConfigError[] {
    return [...this.normalized.warnings, ...this.noticed.map(this.#place)];
  }

  readonly #place = (error: ConfigError): ConfigError => {
    const { origin } = this.normalized;
    return error.at(origin(error.pointer), error.related.map(origin));
  };

  /** What a runtime must give back. */
  get held(): { scope: Scope; holds: readonly EndpointHold[]; shared: ReadonlyMap<string, (asked: Data) => Data> } {
    const { scope, holds, shared } = this;
    return { scope, holds, shared };
  }

  /** Compiles all that is sound, also of a configuration with mistakes: it may have more of them. */
  async compile(): Promise<{ compiled: Compiled; tls: ServerTls | null }> {
    const build = new ScopedBuild(this, this.scope);
    const { errors } = this.normalized;
    const isTlsSound = !errors.some(({ pointer }) => /^\/tls(?:\/|$)/.test(pointer));
    const tls = isTlsSound ? readServerTls(build.config.tls, build) : null;
    return { compiled: await compile(build, this.means.registry), tls };
  }

  async giveBack(): Promise<void> {
    const { log } = this.means.registry.services;
    const tell = (failure: unknown) => log.error(() => `giving back failed: ${failure}`);
    for (const hold of this.holds.toReversed()) await hold.retire(tell);
    await this.scope.dispose(tell);
  }
}

/** What the compiler is handed: for the whole service, or for one endpoint with a scope of its own. There are many. */
class ScopedBuild implements Build {
  readonly #assembly: Assembly;
  readonly #scope: Scope;
  #holder: Holder | null = null;

  constructor(assembly: Assembly, scope: Scope) {
    this.#assembly = assembly;
    this.#scope = scope;
  }

  get config(): ServiceConfig {
    return this.#assembly.normalized.config;
  }

  get services(): Services {
    return this.#assembly.means.registry.services;
  }

  get errors(): ConfigError[] {
    return this.#assembly.found;
  }

  get warnings(): ConfigError[] {
    return this.#assembly.noticed;
  }

  get warmups(): Build['warmups'] {
    return this.#assembly.warmups;
  }

  get read(): ReadFiles['read'] {
    return this.#assembly.files.read;
  }

  keep<T>(owner: string, key: Data, open: () => T, close?: (value: T) => void | Promise<void>): T {
    this.#holder ??= this.#assembly.means.keeper.holder(this.#scope);
    return this.#holder.keep(owner, key, open, close);
  }

  share<T>(
    owner: string,
    key: Data,
    open: () => T,
    use: (value: T, asked: Data) => Data,
  ): (asked: Data) => Data | Promise<Data> {
    const id = keptId(owner, key);
    const { revision, means } = this.#assembly;
    const { ask } = means;
    if (ask) return (asked) => ask(revision, id, asked);
    const value = this.keep(owner, key, open);
    const run = (asked: Data) => use(value, asked);
    this.#assembly.shared.set(id, run);
    return run;
  }

  defer(dispose: () => void | Promise<void>): void {
    this.#scope.defer(dispose);
  }

  forEndpoint(): { build: Build; hold: EndpointHold } {
    const hold = new EndpointHold();
    this.#assembly.holds.push(hold);
    return { build: new ScopedBuild(this.#assembly, hold), hold };
  }
}

async function warmUp(tasks: Build['warmups']): Promise<void> {
  const signal = AbortSignal.timeout(WARM_UP_MS);
  const failures: ConfigError[] = [];
  await Promise.all(
    tasks.map((task) =>
      task(signal).catch((error: unknown) => {
        if (error instanceof ConfigError) failures.push(error);
        else
          failures.push(
            new ConfigError('WARM_UP', '', error instanceof GatewayError ? error.message : String(error), {
              cause: error,
            }),
          );
      }),
    ),
  );
  if (failures.length > 0) throw new ConfigErrors(failures);
}
