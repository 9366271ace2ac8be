import type { ClientRequest, ConfigError, Data, Role, Run, Step } from '#contract';
import { type Normalized, notReported } from '../config/index.ts';
import type { Containment } from '../containment/containment.ts';
import type { FaultMeter } from '../containment/hook-guard.ts';
import { isUnread } from '../pipeline/attach.ts';
import type { Contains, HandlerUse } from '../pipeline/guards.ts';
import type { CallCounter } from '../pipeline/in-flight.ts';
import type { Registry } from '../registry/registry.ts';
import { EndpointLease } from './endpoint-lease.ts';
import type { Mirrors } from './mirrors.ts';
import type { PluginPort } from './plugin-port.ts';
import type { ReadFiles } from './read-files.ts';
import type { RefCountedCache } from './ref-counted-cache.ts';
import { Scope } from './scope.ts';

/** What processes ask one another of a shared value. */
export type Asked = Data | Uint8Array;

/** Asks the process that owns a shared value. @param revision of the configuration that asks. @param id of the value. */
export type Ask = (revision: number, id: string, asked: Asked) => Promise<Asked>;

/** What every build of a process works with. */
export interface BuildContext {
  readonly registry: Registry;
  readonly cache: RefCountedCache;
  readonly mirrors: Mirrors;
  readonly role: Role;
  /** Contains plugins from files; null where nothing serves. */
  readonly containment: Containment | null;
  /** For a process that owns no shared values. */
  readonly ask?: Ask | undefined;
}

/** Work that begins when the configuration serves. */
export interface StartTask {
  readonly run: Run;
  /** Is not released before the work has ended. */
  readonly scope: Scope;
}

/** Codes of names that nobody brings: where a plugin could not be loaded, it may be the one that would. */
const MISSING: ReadonlySet<string> = new Set(['NAMESPACE_UNKNOWN', 'ENCODING_UNKNOWN', 'SD_UNKNOWN', 'PLUGIN_UNKNOWN']);

/** One configuration on its way from data to functions, with all it acquires. */
export class ConfigBuild {
  readonly warmups: ((signal: AbortSignal) => Promise<void>)[] = [];
  readonly normalized: Normalized;
  readonly files: ReadFiles;
  readonly context: BuildContext;
  readonly revision: number;
  readonly scope = new Scope();
  readonly holds: EndpointLease[] = [];
  readonly shared = new Map<string, (asked: Asked) => Asked>();
  readonly starts: StartTask[] = [];
  readonly health = new Map<string, () => Data>();
  /** What empties the caches of each name. */
  readonly caches = new Map<string, (() => void)[]>();
  /** Ports of plugins, by address, with the plugin that listens there. */
  readonly ports = new Map<string, { readonly owner: string; readonly port: PluginPort }>();
  /** Answers requests of the gateway's own; what serves the configuration puts it here. */
  readonly dispatcher: Dispatcher = { dispatch: null, runtime: null };
  /** Counts the faults of plugins from files. */
  readonly faultMeter: FaultMeter = { faults: null };
  readonly mistakes: ConfigError[] = [];
  readonly noticed: ConfigError[] = [];
  readonly handlerUses: HandlerUse[] = [];
  readonly sites: Contains['sites'] = [];

  constructor(normalized: Normalized, files: ReadFiles, context: BuildContext, revision: number) {
    this.normalized = normalized;
    this.files = files;
    this.context = context;
    this.revision = revision;
  }

  /** Every mistake found so far, at its place in the document. */
  get errors(): readonly ConfigError[] {
    const { errors } = this.normalized;
    const { isWhole } = this.context.registry;
    const results = [...new Set(this.mistakes)].filter(
      (error) => !isUnread(error) && (isWhole || !MISSING.has(error.code)),
    );
    // What is told of already may have led a component astray at the same place.
    return [...errors, ...notReported(results.map(this.#place), errors)];
  }

  get warnings(): readonly ConfigError[] {
    return [...this.normalized.warnings, ...this.noticed.map(this.#place)];
  }

  readonly #place = (error: ConfigError): ConfigError => {
    const { origin } = this.normalized;
    return error.at(origin(error.pointer), error.related.map(origin));
  };

  /** What the runtime takes over. */
  get acquired(): Acquired {
    const { scope, holds, shared, starts, health, caches, dispatcher, sites } = this;
    return { scope, holds, shared, starts, health, caches, dispatcher, sites };
  }

  newHold(): EndpointLease {
    const hold = new EndpointLease();
    this.holds.push(hold);
    return hold;
  }

  /** Releases everything: the configuration will not serve. */
  async dispose(): Promise<void> {
    const { log } = this.context.registry.services;
    const report = (failure: unknown) => log.error(() => `failed to release resources: ${failure}`);
    for (const hold of this.holds.toReversed()) await hold.retire(report);
    await this.scope.dispose(report);
  }
}

/** What a configuration has acquired besides its functions. */
export type Acquired = Pick<
  ConfigBuild,
  'scope' | 'holds' | 'shared' | 'starts' | 'health' | 'caches' | 'dispatcher' | 'sites'
>;

/** The way back into the gateway for what its components ask of it. */
export interface Dispatcher {
  dispatch: Step<ClientRequest> | null;
  /** What serves the configuration, once it is made. */
  runtime: CallCounter | null;
}
