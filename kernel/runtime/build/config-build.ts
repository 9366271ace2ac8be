import type { ClientRequest, ConfigError, Data, Role, Step } from '#contract';
import { type Normalized, notReported } from '../../config/index.ts';
import type { Containment } from '../../containment/containment.ts';
import type { FaultMeter } from '../../containment/hook-guard.ts';
import { scheduler } from '../../contract/internal.ts';
import { isUnread } from '../../pipeline/attach/attach.ts';
import type { HandlerUse } from '../../pipeline/attach/guards.ts';
import type { NamedUpstream } from '../../pipeline/attach/upstreams.ts';
import type { CallCounter } from '../../pipeline/traffic/in-flight.ts';
import type { Registry } from '../../registry/registry.ts';
import { EndpointLease } from '../kept/endpoint-lease.ts';
import { Holding, joined, listed, type OwnedPort, type Question } from '../kept/holding.ts';
import type { Mirrors } from '../kept/mirrors.ts';
import type { RefCountedCache } from '../kept/ref-counted-cache.ts';
import type { ReadFiles } from '../prints/read-files.ts';

export type { Question };

/** Queries the process that owns a shared value. @param revision of the requesting configuration. @param id of the value. */
export type Ask = (revision: number, id: string, question: Question) => Promise<Question>;

/** Context shared by all builds of a process. */
export interface BuildContext {
  readonly registry: Registry;
  readonly cache: RefCountedCache;
  readonly mirrors: Mirrors;
  readonly role: Role;
  /** Containment of plugins from files; null if no configuration serves. */
  readonly containment: Containment | null;
  /** Sends requests to the process that owns the shared values; only for processes that do not own them. */
  readonly ask?: Ask | undefined;
}

/** Codes of errors about unknown names. A plugin that could not be loaded may be the one that provides the name. */
const MISSING: ReadonlySet<string> = new Set(['NAMESPACE_UNKNOWN', 'ENCODING_UNKNOWN', 'SD_UNKNOWN', 'PLUGIN_UNKNOWN']);

/** A build in progress: turns one configuration from data into functions, with everything that it acquires. */
export class ConfigBuild {
  readonly warmups: ((signal: AbortSignal) => Promise<void>)[] = [];
  readonly normalized: Normalized;
  readonly files: ReadFiles;
  readonly context: BuildContext;
  readonly revision: number;
  /** Resources of the service itself. */
  readonly scope: Holding;
  /** Resources of each endpoint and agent, including those reused from the previous configuration. */
  readonly holds: EndpointLease[] = [];
  /** Ports of plugins, by address. */
  readonly ports = new Map<string, OwnedPort>();
  /** Handles the gateway's own requests; set by the runtime that serves the configuration. */
  readonly dispatcher: Dispatcher = { dispatch: null, runtime: null };
  /** Counts the faults of plugins from files. */
  readonly faultMeter: FaultMeter;
  readonly issues: ConfigError[] = [];
  /** Warnings of the configuration as a whole. */
  readonly noticed: ConfigError[] = [];
  /** Servers that the configuration names; null if they are not collected. */
  upstreams: NamedUpstream[] | null;
  /** Resources reused from the previous configuration. */
  readonly #adopted: Holding[] = [];
  /** Holdings (resources of the service or of one endpoint) that have registered something, or still may; most reused ones have not. */
  readonly #registering: Holding[] = [];

  /** @param service resources of the previous configuration's service, to reuse; null to acquire them anew. */
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
    // A sandbox must know which protocols connect to a server, so upstreams are recorded.
    this.upstreams = context.registry.services.sandbox ? [] : null;
    this.scope = service ?? new Holding();
    this.faultMeter = service?.builder?.faultMeter ?? { faults: null };
    if (service) this.#goOnWith(service);
    else this.#registering.push(this.scope);
  }

  /** Reuses the resources of an endpoint or agent of the previous configuration. */
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

  /** Called when the configuration begins to serve: reused resources belong to it from now on, and nothing refers to the previous one. */
  takeOver(): void {
    for (const { builder } of this.#adopted) builder?.moveTo(this);
    this.#adopted.length = 0;
  }

  /** Every error found so far, with its location in the document. */
  get errors(): readonly ConfigError[] {
    const { errors, unfilled } = this.normalized;
    const { isWhole } = this.context.registry;
    const results = [...new Set(this.issues)].filter(
      (error) => !isUnread(error) && (isWhole || !MISSING.has(error.code)),
    );
    // A component may report a follow-up error at the location of an error that was already reported.
    const others = results.map(this.#place).filter(({ pointer }) => !unfilled?.has(pointer));
    return [...errors, ...notReported(others, errors)];
  }

  get warnings(): readonly ConfigError[] {
    const { isDerived } = this.normalized;
    const isOfOriginal = ({ code, pointer }: ConfigError) => code !== 'SECRET_LITERAL' || !isDerived?.(pointer);
    const all = [...listed(this.#registering, 'warnings'), ...this.noticed].filter(isOfOriginal);
    return [...this.normalized.warnings, ...all.map(this.#place)];
  }

  readonly #place = (error: ConfigError): ConfigError => {
    const { origin } = this.normalized;
    return error.at(origin(error.pointer), error.related.map(origin));
  };

  /** The resources that the runtime takes over. */
  get acquired(): Acquired {
    const { scope, holds, dispatcher } = this;
    const registering = this.#registering.filter(({ registered }) => registered !== null);
    return { scope, holds, registering, dispatcher, takeOver: () => this.takeOver() };
  }

  /** Health details of the configuration's components, for the health endpoint. */
  get health(): ReadonlyMap<string, () => Data> {
    return joined(this.#registering, 'health');
  }

  /** Handlers of plugins from files that the configurations of other plugins name. */
  get handlerUses(): readonly HandlerUse[] {
    return listed(this.#registering, 'handlerUses');
  }

  newHold(): EndpointLease {
    const hold = new EndpointLease();
    this.holds.push(hold);
    this.#registering.push(hold);
    return hold;
  }

  /** Releases everything: the configuration will not serve. */
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

/** Everything that a configuration has acquired in addition to its functions. */
export type Acquired = Pick<ConfigBuild, 'scope' | 'holds' | 'dispatcher'> & {
  /** The holdings (resources of the service or of one endpoint) that have registered something. */
  readonly registering: readonly Holding[];
  /** Must be called when the configuration begins to serve. */
  readonly takeOver: () => void;
};

/** Sends requests of the configuration's components back into the gateway. */
export interface Dispatcher {
  dispatch: Step<ClientRequest> | null;
  /** The runtime that serves the configuration, once it exists. */
  runtime: CallCounter | null;
}
