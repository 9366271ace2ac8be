import type { ClientRequest, ConfigError, Data, Role, Step } from '#contract';
import { type Normalized, notReported } from '../config/index.ts';
import type { Containment } from '../containment/containment.ts';
import type { FaultMeter } from '../containment/hook-guard.ts';
import { scheduler } from '../contract/internal.ts';
import { isUnread } from '../pipeline/attach.ts';
import type { HandlerUse } from '../pipeline/guards.ts';
import type { CallCounter } from '../pipeline/in-flight.ts';
import type { NamedUpstream } from '../pipeline/upstreams.ts';
import type { Registry } from '../registry/registry.ts';
import { EndpointLease } from './endpoint-lease.ts';
import { type Asked, Holding, joined, listed, type OwnedPort } from './holding.ts';
import type { Mirrors } from './mirrors.ts';
import type { ReadFiles } from './read-files.ts';
import type { RefCountedCache } from './ref-counted-cache.ts';

export type { Asked };

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

/** Codes of names that nobody brings: where a plugin could not be loaded, it may be the one that would. */
const MISSING: ReadonlySet<string> = new Set(['NAMESPACE_UNKNOWN', 'ENCODING_UNKNOWN', 'SD_UNKNOWN', 'PLUGIN_UNKNOWN']);

/** One configuration on its way from data to functions, with all it acquires. */
export class ConfigBuild {
  readonly warmups: ((signal: AbortSignal) => Promise<void>)[] = [];
  readonly normalized: Normalized;
  readonly files: ReadFiles;
  readonly context: BuildContext;
  readonly revision: number;
  /** What the service itself acquires. */
  readonly scope: Holding;
  /** What each endpoint and agent acquires, those of the configuration before that it goes on with included. */
  readonly holds: EndpointLease[] = [];
  /** Ports of plugins, by address. */
  readonly ports = new Map<string, OwnedPort>();
  /** Answers requests of the gateway's own; what serves the configuration puts it here. */
  readonly dispatcher: Dispatcher = { dispatch: null, runtime: null };
  /** Counts the faults of plugins from files. */
  readonly faultMeter: FaultMeter;
  readonly mistakes: ConfigError[] = [];
  /** Warnings of the configuration as a whole. */
  readonly noticed: ConfigError[] = [];
  /** Servers that it names; null where nobody wants to know. */
  upstreams: NamedUpstream[] | null = null;
  /** What the configuration before acquired and this one goes on with. */
  readonly #adopted: Holding[] = [];
  /** Those of all that have registered something, or still may; most that are gone on with have not. */
  readonly #registering: Holding[] = [];

  /** @param service what the service of the configuration before acquired, to go on with; null to acquire it anew. */
  constructor(
    normalized: Normalized,
    files: ReadFiles,
    context: BuildContext,
    revision: number,
    service: Holding | null = null,
  ) {
    this.normalized = normalized;
    this.files = files;
    this.context = context;
    this.revision = revision;
    this.scope = service ?? new Holding();
    this.faultMeter = service?.builder?.faultMeter ?? { faults: null };
    if (service) this.#goOnWith(service);
    else this.#registering.push(this.scope);
  }

  /** Goes on with what an endpoint, or an agent, of the configuration before acquired. */
  adopt(hold: EndpointLease): void {
    this.#goOnWith(hold);
    this.holds.push(hold);
  }

  #goOnWith(holding: Holding): void {
    holding.adopt();
    this.#adopted.push(holding);
    if (holding.registered === null) return;
    this.#registering.push(holding);
    for (const [address, owned] of holding.registered.ports) this.ports.set(address, owned);
  }

  /** It serves: what it went on with belongs to it from now on, and nothing leads to the one before any more. */
  takeOver(): void {
    for (const { builder } of this.#adopted) builder?.moveTo(this);
    this.#adopted.length = 0;
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
    const all = [...listed(this.#registering, 'warnings'), ...this.noticed];
    return [...this.normalized.warnings, ...all.map(this.#place)];
  }

  readonly #place = (error: ConfigError): ConfigError => {
    const { origin } = this.normalized;
    return error.at(origin(error.pointer), error.related.map(origin));
  };

  /** What the runtime takes over. */
  get acquired(): Acquired {
    const { scope, holds, dispatcher } = this;
    const registering = this.#registering.filter(({ registered }) => registered !== null);
    return { scope, holds, registering, dispatcher, takeOver: () => this.takeOver() };
  }

  /** What the health endpoint shows of its components. */
  get health(): ReadonlyMap<string, () => Data> {
    return joined(this.#registering, 'health');
  }

  /** Handlers of plugins from files, where configurations of other plugins name them. */
  get handlerUses(): readonly HandlerUse[] {
    return listed(this.#registering, 'handlerUses');
  }

  newHold(): EndpointLease {
    const hold = new EndpointLease();
    this.holds.push(hold);
    this.#registering.push(hold);
    return hold;
  }

  /** Lets go of everything: the configuration will not serve. */
  async dispose(): Promise<void> {
    const { log } = this.context.registry.services;
    const report = (failure: unknown) => log.error(() => `failed to release resources: ${failure}`);
    for (const hold of this.holds.toReversed()) {
      await hold.release(report);
      if (scheduler.due) await scheduler.yield();
    }
    await this.scope.release(report);
  }
}

/** What a configuration has acquired besides its functions. */
export type Acquired = Pick<ConfigBuild, 'scope' | 'holds' | 'dispatcher'> & {
  /** Those of them that have registered something. */
  readonly registering: readonly Holding[];
  /** To be called when it begins to serve. */
  readonly takeOver: () => void;
};

/** The way back into the gateway for what its components ask of it. */
export interface Dispatcher {
  dispatch: Step<ClientRequest> | null;
  /** What serves the configuration, once it is made. */
  runtime: CallCounter | null;
}
