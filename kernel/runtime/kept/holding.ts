import type { ConfigError, Data, Log, Run } from '#contract';
import type { FaultMeter } from '../../containment/hook-guard.ts';
import type { HandlerUse } from '../../pipeline/attach/guards.ts';
import type { Reads } from '../../pipeline/attach/reads.ts';
import type { FilePlugin } from '../../registry/registry.ts';
import type { PluginPort } from './plugin-port.ts';
import { Scope } from './scope.ts';

/** Data that processes exchange about a shared value. */
export type Question = Data | Uint8Array;

/** The builder that acquires resources. */
export interface Builder {
  readonly reads: Reads;
  readonly faultMeter: FaultMeter;
  /** Transfers ownership to another configuration, which handles later requests for resources. */
  moveTo(whole: object): void;
}

/** A port of a plugin, with the plugin that listens on it. */
export interface OwnedPort {
  readonly owner: string;
  readonly port: PluginPort;
}

/** Background work while a configuration serves. */
export interface StartTask {
  readonly run: Run;
  /** At startup, the gateway opens its port only after the returned promise has settled. */
  readonly holdsPort: boolean;
}

/** Registrations of one part of a configuration, in addition to its disposers. */
export interface Registered {
  /** Background work while the configuration serves. */
  readonly starts: StartTask[];
  /** Health details of components, by name, for the health endpoint. */
  readonly health: Map<string, () => Data>;
  /** Functions that empty the caches, by name. */
  readonly caches: (readonly [name: string, empty: () => void])[];
  /** Functions that return recorded traffic. */
  readonly recordings: ((count: number) => string)[];
  /** Operations that other processes run on shared values of this process, by operation id. */
  readonly shared: Map<string, (question: Question) => Question>;
  /** Ports by address. */
  readonly ports: Map<string, OwnedPort>;
  readonly handlerUses: HandlerUse[];
  /** Errors that did not cause a rejection, with their locations in the completed configuration. */
  readonly warnings: ConfigError[];
  /** Objects that were passed to its plugins from files. */
  readonly sites: { readonly plugin: FilePlugin; readonly ref: WeakRef<object> }[];
}

/** An empty map that is shared, so it must not be modified. */
const none = new Map<string, never>();
const nothing: readonly never[] = Object.freeze([]);

/**
 * Resources of one part of a configuration: the service, or one endpoint. Later configurations reuse them if that part
 * has not changed; they stay active as long as one of these configurations serves, and are released when the last has
 * retired.
 */
export class Holding extends Scope {
  /** The builder that acquired the resources; it provides more of them on request. */
  builder: Builder | null = null;
  /** Number of configurations that hold these resources. */
  #holders = 1;
  /** Number of holders that serve: two for a short time while one configuration replaces another. */
  #serving = 0;
  #working: AbortController | null = null;
  /** Promises that must settle before the port is opened. */
  #before: readonly Promise<void>[] = nothing;
  #registered: Registered | null = null;

  /** Created on first use, because most endpoints register nothing. */
  get registers(): Registered {
    this.#registered ??= {
      starts: [],
      health: none,
      caches: [],
      recordings: [],
      shared: none,
      ports: none,
      handlerUses: [],
      warnings: [],
      sites: [],
    };
    return this.#registered;
  }

  /**
   * Returns the map of registrations of a kind, by name. The map is created on first use, because most parts have no
   * registrations of most kinds.
   */
  names<K extends 'health' | 'shared' | 'ports'>(kind: K): Registered[K] {
    const registers = this.registers as { -readonly [Kind in keyof Registered]: Registered[Kind] };
    if (registers[kind] === none) registers[kind] = new Map() as Registered[K];
    return registers[kind];
  }

  get registered(): Registered | null {
    return this.#registered;
  }

  /** Adds a configuration as a holder. */
  adopt(): void {
    this.#holders++;
  }

  /** True while another configuration also holds these resources. */
  get isShared(): boolean {
    return this.#holders > 1;
  }

  /** Called when a holder begins to serve: starts the background work, unless it is running. */
  serve(log: Log): void {
    if (++this.#serving > 1) return;
    const starts = this.#registered?.starts;
    if (!starts || starts.length === 0) return;
    this.#working = new AbortController();
    const { signal } = this.#working;
    const onError = (error: unknown): void =>
      log.error(() => `a component has failed: ${error instanceof Error ? error.stack : error}`);
    for (const { run, holdsPort } of starts) {
      try {
        const running = run(signal);
        if (running) this.defer(() => running.catch(onError));
        if (running && holdsPort) this.#before = [...this.#before, running.catch(() => {})];
      } catch (error) {
        onError(error);
      }
    }
  }

  /** Resolves when the held resources no longer delay opening the port. */
  async ready(): Promise<void> {
    await Promise.all(this.#before);
  }

  /** Called when a holder stops serving: with the last one, the background work ends. */
  rest(): void {
    if (--this.#serving === 0) this.#working?.abort();
  }

  /** Removes a configuration as a holder; the last one releases the resources. @returns a promise for the release; null while others hold it. */
  release(onError: (error: unknown) => void): Promise<void> | null {
    return --this.#holders > 0 ? null : this.finish(onError);
  }

  /** Releases the resources; called when the last configuration has released them. */
  protected finish(onError: (error: unknown) => void): Promise<void> {
    return this.dispose(onError);
  }
}

/** Merges the named registrations of several parts; the later one wins if names are equal. */
export function joined<K extends 'health' | 'shared'>(holdings: Iterable<Holding>, kind: K): Registered[K] {
  const all = new Map();
  for (const { registered } of holdings) {
    if (registered) for (const [name, value] of registered[kind]) all.set(name, value);
  }
  return all as Registered[K];
}

/** Concatenates the registrations of several parts. */
export function listed<K extends 'caches' | 'handlerUses' | 'recordings' | 'sites' | 'warnings'>(
  holdings: Iterable<Holding>,
  kind: K,
): Registered[K] {
  const all: unknown[] = [];
  for (const { registered } of holdings) if (registered) for (const each of registered[kind]) all.push(each);
  return all as Registered[K];
}
