import { setTimeout as delay } from 'node:timers/promises';
import type { InjectOptions, Response } from 'light-my-request';
import type { Catalogue, DataObject, ListenAddress, LogLevel, ServiceConfig } from '#contract';
import { type IsSecret, issueLine, toIssues } from '../config/index.ts';
import type { Containment } from '../containment/containment.ts';
import type { InternalErrors } from '../containment/internal-errors.ts';
import { ConfigErrors, type DeniedAddresses, GatewayError } from '../contract/internal.ts';
import type { Attempts } from '../control/attempts.ts';
import type { Applied, Change } from '../control/change.ts';
import { ChangeGuard } from '../control/change-guard.ts';
import { Control } from '../control/control.ts';
import { type Engine, openEngine } from '../control/engine.ts';
import { createEventLog, type EventLog } from '../control/event-log.ts';
import { followFiles } from '../control/follow-files.ts';
import { type GatewayOptions, overridesOf } from '../control/gateway-options.ts';
import type { Generations } from '../control/generations.ts';
import type { GuardState } from '../control/guard.ts';
import { logOutcome } from '../control/log-outcome.ts';
import type { Participant } from '../control/participant.ts';
import type { ListenOptions } from '../control/public-port.ts';
import { recordRevisions, recordStart } from '../control/record-revisions.ts';
import { MAX_ISSUES, toRefusal } from '../control/refusal.ts';
import { adminSettings, KEPT_REVISIONS } from '../control/reload-settings.ts';
import { openRevisionStore, type RevisionStore } from '../control/revision-store.ts';
import type { SecretsState } from '../control/secrets/secret-keeper.ts';
import { ConfigText, type Snapshot, type Source } from '../control/snapshot.ts';
import { joinSuspensions } from '../control/suspensions.ts';
import { type Components, componentsOf } from '../inspect/components.ts';
import { describeServed } from '../inspect/describe-served.ts';
import type { ApplicationLog } from '../logging/index.ts';
import type { Registry } from '../registry/registry.ts';
import { type Examined, examine, type Reach } from '../runtime/build/build.ts';
import type { Mirrors } from '../runtime/kept/mirrors.ts';
import type { Watcher } from '../runtime/watch/index.ts';
import type { WorkerPool } from '../workers/worker-pool.ts';
import type { GatewayStatus } from './gateway.ts';
import { type Complete, injectInto } from './inject.ts';
import { demandListenOptions } from './listen-options.ts';
import { openWorkers } from './open-workers.ts';
import type { Operations, ServingConfiguration } from './operations.ts';
import { OwnProcess } from './own-process.ts';
import { type RehearsalSettings, rehearsalsOf } from './own-program.ts';
import { statusOf } from './status-of.ts';

/** Longest wait, when a gateway closes, for the history to be written to disk, in milliseconds. */
const HISTORY_MS = 5_000;

/** Starts a gateway with a catalog of plugins. @throws ConfigErrors with every error of the configuration. */
export async function startGateway(
  catalogue: Catalogue,
  source: Source,
  options: GatewayOptions = {},
): Promise<Operations> {
  const events = createEventLog();
  const engine = openEngine(catalogue, { ...options, events, role: options.workers ? 'owner' : 'alone' });
  const keep = () => adminSettings(engine.generations.current.runtime)?.revisions ?? KEPT_REVISIONS;
  const revisions = await openRevisionStore(options.revisionDirectory ?? null, keep, engine.log);
  const gateway = new RunningGateway({ ...engine, events }, revisions, source, options);
  try {
    await gateway.start();
  } catch (error) {
    await gateway.close();
    throw error;
  }
  return gateway;
}

/** The assembled gateway. Other modules use only its interfaces. */
export class RunningGateway implements Operations {
  readonly startedAt = Date.now();
  readonly control: Control;
  readonly generations: Generations;
  readonly events: EventLog;
  readonly log: ApplicationLog;
  readonly revisions: RevisionStore;
  readonly containment: Containment;
  readonly internalErrors: InternalErrors;
  readonly rehearsals: RehearsalSettings;
  readonly store: Operations['store'];
  readonly #registry: Registry;
  readonly #guard: ChangeGuard;
  readonly #options: GatewayOptions;
  readonly #mirrors: Mirrors;
  readonly #denied: DeniedAddresses;
  readonly #own: OwnProcess;
  readonly #closeEngine: () => void;
  #pool: WorkerPool | null = null;
  #watcher: Watcher | null = null;
  /** Promise for the watcher, which all calls share. */
  #watching: Promise<Watcher> | null = null;
  #closing: Promise<void> | null = null;
  /** Promise for the first entry of the history. */
  #recording: Promise<void> | null = null;

  constructor(
    engine: Engine & { readonly events: EventLog },
    revisions: RevisionStore,
    source: Source,
    options: GatewayOptions,
  ) {
    const { log, registry, generations, mirrors, denied, containment, internalErrors, events, observers } = engine;
    this.#closeEngine = engine.close;
    this.events = events;
    this.log = log;
    this.revisions = revisions;
    this.#registry = registry;
    this.generations = generations;
    this.#own = new OwnProcess(generations, registry.services.sinks, observers);
    this.#mirrors = mirrors;
    this.containment = containment;
    this.internalErrors = internalErrors;
    void joinSuspensions({ containment, mirrors });
    this.#denied = denied;
    this.#options = options;
    this.rehearsals = rehearsalsOf(options, denied);
    this.store = options.store ?? null;
    const overrides = overridesOf(options);
    const isSecret: IsSecret = (...place) => this.components.isSecret(...place);
    const control = new Control({ generations, overrides, source, events, lastRevision: revisions.last, isSecret });
    this.control = control;
    logOutcome(control, log);
    recordRevisions(control, generations, revisions);
    this.#guard = new ChangeGuard({ control, generations, revisions, events, log });
  }

  async start(): Promise<void> {
    const { workers, resumeLastGood = false, secrets } = this.#options;
    if (workers) {
      const { events, log, containment, internalErrors, generations } = this;
      const shared = { events, log, containment, internalErrors, generations, mirrors: this.#mirrors };
      this.#pool = await openWorkers(workers, this.#options, { ...shared, denied: this.#denied });
      this.join(this.#pool);
    }
    try {
      await this.control.apply({ trigger: 'start', ...(secrets && { secrets }) });
    } catch (error) {
      if (!resumeLastGood || !(error instanceof ConfigErrors)) throw error;
      await this.#resume(error);
    }
  }

  /** Starts with the last good configuration. @param refusal rejection of the configuration that was to be started. */
  async #resume(refusal: ConfigErrors): Promise<void> {
    const revision = await this.revisions.lastGood();
    if (!revision) throw refusal;
    const { text, format, number } = revision;
    const message = `the configuration is not valid; resuming revision ${number}`;
    await this.apply({ trigger: 'resume', source: new ConfigText(text, format), message });
    for (const issue of toRefusal(refusal, 'read', null).issues) this.log.error(`${message}: ${issueLine(issue)}`);
  }

  get caches(): readonly string[] {
    return [...this.generations.current.runtime.caches.keys()];
  }

  emptyCache(name: string): boolean {
    return this.generations.current.runtime.emptyCache(name);
  }

  recordings(count: number): string | null {
    return this.generations.current.runtime.recordings[0]?.(count) ?? null;
  }

  /** Components that the serving configuration may name; before the first configuration, the built-in ones. */
  get components(): Components {
    return componentsOf(this.generations.isServing ? this.generations.current.runtime.registry : this.#registry);
  }

  get config(): ServiceConfig {
    return this.generations.current.runtime.shown;
  }

  get status(): GatewayStatus {
    return statusOf(this.generations, this.control.current.warnings, this.#pool?.workers ?? []);
  }

  get serving(): ServingConfiguration {
    const { router, runtime, destinations, logging } = this.generations.current;
    const { config, compiled } = runtime;
    const { file, current } = this.control;
    return { ...current, config, compiled, router, destinations, file, logging, admin: adminSettings(runtime) };
  }

  get source(): Source {
    return this.control.source;
  }

  get attempts(): Attempts {
    return this.control.attempts;
  }

  get guard(): GuardState | null {
    return this.#guard.state;
  }

  get secrets(): SecretsState {
    return this.control.secrets.state;
  }

  get processes(): WorkerPool | OwnProcess {
    return this.#pool ?? this.#own;
  }

  get ending(): boolean {
    return this.#closing !== null;
  }

  get watcher(): Watcher | null {
    return this.#watcher;
  }

  async apply(change: Change): Promise<Applied> {
    if (change.source === undefined && !change.asServed) await this.store?.refresh();
    return this.control.apply(change);
  }

  reload(source?: Source): Promise<Applied> {
    return this.apply({ trigger: 'api', source });
  }

  async examine({ data, document }: Snapshot, reach: Reach, asStarted = false): Promise<Examined> {
    const overrides = asStarted ? this.control.overrides : {};
    const examined = await examine(data, overrides, this.control.registryFor(reach), reach === 'files');
    const { errors, warnings } = examined;
    if (errors.length === 0) return examined;
    const { isSecret } = this.components;
    const refusal = toRefusal(new ConfigErrors(errors), examined.phase, document, isSecret);
    const reported = [...(document?.warnings ?? []), ...warnings].slice(0, MAX_ISSUES);
    refusal.warnings = toIssues(document, reported, 'warning', isSecret);
    throw refusal;
  }

  hasDrifted(): Promise<boolean> {
    return this.control.hasDrifted();
  }

  join(participant: Participant): () => void {
    const { participants } = this.control;
    participants.push(participant);
    return () => void participants.splice(participants.indexOf(participant), 1);
  }

  describe(audience?: string): Promise<DataObject> {
    return describeServed(this.#registry.catalogue, this.config, audience);
  }

  setLogLevel(level: LogLevel | null): void {
    this.log.level = level ?? this.generations.current.logging.application.level;
    this.#pool?.setLogLevel(this.log.level);
  }

  async deny(address: ListenAddress): Promise<() => void> {
    const allow = this.#denied.deny(address);
    await this.#pool?.shareDenied();
    return () => {
      allow();
      void this.#pool?.shareDenied();
    };
  }

  async watch(): Promise<void> {
    if (typeof this.source !== 'string') return;
    this.#watching ??= followFiles(this.control, this.generations, this.events, this.log);
    this.#watcher = await this.#watching;
  }

  async listen(options: ListenOptions = {}): Promise<{ host: string; port: number }> {
    demandListenOptions(options);
    const address = await this.generations.ready().then(() => this.processes.listen(options));
    this.log.info(address.port === 0 ? `Listening on ${address.host}` : `Listening on port: ${address.port}`);
    this.#recording ??= recordStart(this.control, this.generations, this.revisions);
    return address;
  }

  async inject(request: InjectOptions | string, complete?: Complete): Promise<Response> {
    if (this.#closing) throw new GatewayError('GATEWAY_CLOSED', 'inject() was called after close()');
    return injectInto(this.generations.serve, request, complete);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // From this point on, readiness checks report that the gateway is not ready.
    this.processes.setClosing(true);
    this.#guard.stop();
    await (await this.#watching)?.close();
    await this.control.close();
    await this.#pool?.close();
    await this.generations.close();
    this.internalErrors.close();
    await this.containment.close();
    const isKept = Promise.resolve(this.#recording).then(() => this.revisions.settled);
    await Promise.race([isKept, delay(HISTORY_MS, undefined, { ref: false })]);
    await this.#registry.close();
    this.#closeEngine();
  }
}
