import type { ConfigError, Data, Log, Run } from '#contract';
import type { FaultMeter } from '../containment/hook-guard.ts';
import type { HandlerUse } from '../pipeline/guards.ts';
import type { Reads } from '../pipeline/reads.ts';
import type { FilePlugin } from '../registry/registry.ts';
import type { PluginPort } from './plugin-port.ts';
import { Scope } from './scope.ts';

/** What processes ask one another of a shared value. */
export type Asked = Data | Uint8Array;

/** What something is acquired by. */
export interface Builder {
  readonly reads: Reads;
  readonly faultMeter: FaultMeter;
  /** From now on another configuration has it: what is asked for later is asked of that. */
  moveTo(whole: object): void;
}

/** A port of a plugin's, with the plugin that listens there. */
export interface OwnedPort {
  readonly owner: string;
  readonly port: PluginPort;
}

/** Work that goes on while a configuration serves. */
export interface StartTask {
  readonly run: Run;
  /** When the gateway starts, its port opens once what it returns has settled. */
  readonly holdsPort: boolean;
}

/** What one place of a configuration has registered, besides what it releases at its end. */
export interface Registered {
  /** Work that goes on while it serves. */
  readonly starts: StartTask[];
  /** What the health endpoint shows of its components. */
  readonly health: Map<string, () => Data>;
  /** What empties the caches of each name. */
  readonly caches: (readonly [name: string, empty: () => void])[];
  /** What other processes may ask of the values it shares, by their ids. */
  readonly shared: Map<string, (asked: Asked) => Asked>;
  /** By address. */
  readonly ports: Map<string, OwnedPort>;
  readonly handlerUses: HandlerUse[];
  /** Mistakes that did not refuse it, at their places in the completed configuration. */
  readonly warnings: ConfigError[];
  /** What its plugins from files were handed. */
  readonly sites: { readonly plugin: FilePlugin; readonly ref: WeakRef<object> }[];
}

/** Never written to. */
const none = new Map<string, never>();
const nothing: readonly never[] = Object.freeze([]);

/**
 * What one place of a configuration acquired: the service, or one endpoint. Configurations after the one that it was built
 * for go on with it where nothing of it has changed; it works for as long as one of them serves, and is released when the
 * last of them has retired.
 */
export class Holding extends Scope {
  /** What it was acquired by; it is asked for more as long as it works. */
  builder: Builder | null = null;
  /** Configurations that have it. */
  #holders = 1;
  /** Those of them that serve; for a moment there are two. */
  #serving = 0;
  #working: AbortController | null = null;
  /** What the port waits for. */
  #before: readonly Promise<void>[] = nothing;
  #registered: Registered | null = null;

  /** Made when first written to: most endpoints register nothing. */
  get registers(): Registered {
    this.#registered ??= {
      starts: [],
      health: none,
      caches: [],
      shared: none,
      ports: none,
      handlerUses: [],
      warnings: [],
      sites: [],
    };
    return this.#registered;
  }

  /** What is registered under names, to add to it: of most kinds most places have nothing. */
  names<K extends 'health' | 'shared' | 'ports'>(kind: K): Registered[K] {
    const registers = this.registers as { -readonly [Kind in keyof Registered]: Registered[Kind] };
    if (registers[kind] === none) registers[kind] = new Map() as Registered[K];
    return registers[kind];
  }

  get registered(): Registered | null {
    return this.#registered;
  }

  /** Another configuration goes on with it. */
  adopt(): void {
    this.#holders++;
  }

  /** True while another configuration than the one that asks has it. */
  get isShared(): boolean {
    return this.#holders > 1;
  }

  /** A configuration that has it serves: what it has to do meanwhile begins, unless it is under way. */
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

  /** Resolves when nothing of it holds up the port any more. */
  async ready(): Promise<void> {
    await Promise.all(this.#before);
  }

  /** A configuration that had served does no more: with the last one its work ends. */
  rest(): void {
    if (--this.#serving === 0) this.#working?.abort();
  }

  /** A configuration lets go of it: the last one releases it. @returns when it is released; null while others have it. */
  release(onError: (error: unknown) => void): Promise<void> | null {
    return --this.#holders > 0 ? null : this.finish(onError);
  }

  /** Nobody has it any more. */
  protected finish(onError: (error: unknown) => void): Promise<void> {
    return this.dispose(onError);
  }
}

/** What several places have registered under names, as one: of two of a name the later one counts. */
export function joined<K extends 'health' | 'shared'>(holdings: Iterable<Holding>, kind: K): Registered[K] {
  const all = new Map();
  for (const { registered } of holdings) {
    if (registered) for (const [name, value] of registered[kind]) all.set(name, value);
  }
  return all as Registered[K];
}

/** What several places have registered, in one list. */
export function listed<K extends 'caches' | 'handlerUses' | 'sites' | 'warnings'>(
  holdings: Iterable<Holding>,
  kind: K,
): Registered[K] {
  const all: unknown[] = [];
  for (const { registered } of holdings) if (registered) for (const each of registered[kind]) all.push(each);
  return all as Registered[K];
}
