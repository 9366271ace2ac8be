import { setTimeout as delay } from 'node:timers/promises';
import type { DispatchFunc, InjectOptions, Response } from 'light-my-request';
import {
  type Catalogue,
  type ConfigError,
  ConfigErrors,
  type DeniedAddresses,
  type ListenAddress,
  type ServiceConfig,
} from '#contract';
import { issueLine } from './config/index.ts';
import type { Applied, Change } from './control/change.ts';
import { ChangeGuard } from './control/change-guard.ts';
import { Control } from './control/control.ts';
import { type Engine, openEngine } from './control/engine.ts';
import { createEventLog, type EventLog } from './control/event-log.ts';
import { followFiles } from './control/follow-files.ts';
import type { GatewayOptions } from './control/gateway-options.ts';
import type { Generations } from './control/generations.ts';
import { recordRevisions, recordStart } from './control/record-revisions.ts';
import { toRefusal } from './control/refusal.ts';
import { adminSettings, KEPT_REVISIONS } from './control/reload-settings.ts';
import { openRevisionStore, type RevisionStore } from './control/revision-store.ts';
import { ConfigText, type Source } from './control/snapshot.ts';
import { tellOutcome } from './control/tell-outcome.ts';
import type { Gateway } from './gateway.ts';
import type { ApplicationLog } from './logging/index.ts';
import type { Registry } from './registry/registry.ts';
import { secretsKnownTo } from './registry/secrets.ts';
import type { Mirrors } from './runtime/mirrors.ts';
import type { Watcher } from './runtime/watch/index.ts';
import type { Crew } from './workers/crew.ts';

export {
  type ConfigDiff,
  canonicalData,
  compileSchema,
  decodeText,
  diffConfigs,
  draftFile,
  editDocument,
  type IsSecret,
  type Issue,
  joinPointer,
  maskSecrets,
  nearest,
  normalize,
  parseDocument,
  parseDuration,
  parseJson,
  parsePointer,
  replaceFile,
  toIssues,
} from './config/index.ts';
export type { Attempt, AttemptResult, Trigger } from './control/attempts.ts';
export type { Applied, Change, GuardWish } from './control/change.ts';
export type { EventData, EventLog, EventType, GatewayEvent } from './control/event-log.ts';
export { eventTypes, isEventPattern } from './control/event-log.ts';
export type { GatewayOptions, WorkerOptions } from './control/gateway-options.ts';
export { defaultThresholds, type GuardThresholds } from './control/guard.ts';
export type { GuardState } from './control/guard-state.ts';
export { makeDirectory } from './control/make-directory.ts';
export type { Next, Participant, Ready } from './control/participant.ts';
export { Refusal, type RefusalRecord, recordOf, toRefusal } from './control/refusal.ts';
export { adminSettings } from './control/reload-settings.ts';
export type { Revision, RevisionSummary } from './control/revision.ts';
export type { Found, RevisionStore } from './control/revision-store.ts';
export { ConfigText, type Format, readSnapshot, type Snapshot, type Source } from './control/snapshot.ts';
export type { Gateway } from './gateway.ts';
export * from './inspect/index.ts';
export { completeSchema, componentSchema } from './pipeline/complete-schema.ts';
export { statusClasses } from './pipeline/status-counts.ts';
export { latencyBands } from './pipeline/traffic-window.ts';
export { secretsKnownTo } from './registry/secrets.ts';
export { bindTrouble } from './runtime/bind-trouble.ts';
export { type Examined, examine, type Overrides } from './runtime/build.ts';
export { contentHash } from './runtime/content-hash.ts';
export { endpointId, hashOf, takeFingerprint } from './runtime/fingerprint.ts';
export { systemTimers, type Timers } from './runtime/watch/timers.ts';
export { socketAddress } from './server/client-ip.ts';
export type { RunningAdmin, StartAdmin, StartAdminOptions } from './start-admin.ts';
export { version } from './version.ts';
export type { WorkerInfo } from './workers/crew.ts';
export { type MemoryUse, memoryUse } from './workers/memory-use.ts';

/** Longest wait for the history to reach the disk when a gateway closes, in milliseconds. */
const HISTORY_MS = 5_000;

/** Starts a gateway over a catalogue of plugins. @throws ConfigErrors with every mistake of the configuration. */
export async function startGateway(
  catalogue: Catalogue,
  source: Source,
  options: GatewayOptions = {},
): Promise<Gateway> {
  const events = createEventLog();
  const engine = openEngine(catalogue, { ...options, events, role: options.workers ? 'owner' : 'alone' });
  const keep = () => adminSettings(engine.generations.current.runtime)?.revisions ?? KEPT_REVISIONS;
  const revisions = await openRevisionStore(options.revisionDirectory ?? null, keep, engine.log);
  const kernel = new Kernel({ ...engine, events }, revisions, source, options);
  try {
    await kernel.start();
  } catch (error) {
    await kernel.close();
    throw error;
  }
  return kernel;
}

class Kernel implements Gateway {
  readonly startedAt = Date.now();
  readonly events: EventLog;
  readonly log: ApplicationLog;
  readonly registry: Registry;
  readonly generations: Generations;
  readonly revisions: RevisionStore;
  readonly control: Control;
  readonly guard: ChangeGuard;
  readonly #options: GatewayOptions;
  readonly #mirrors: Mirrors;
  readonly #denied: DeniedAddresses;
  #crew: Crew | null = null;
  #watcher: Watcher | null = null;
  #closing: Promise<void> | null = null;
  /** The history's first entry on its way. */
  #recording: Promise<void> | null = null;

  constructor(
    { log, registry, generations, mirrors, denied, events }: Engine & { readonly events: EventLog },
    revisions: RevisionStore,
    source: Source,
    options: GatewayOptions,
  ) {
    const { port, debug } = options;
    this.events = events;
    this.log = log;
    this.registry = registry;
    this.generations = generations;
    this.#mirrors = mirrors;
    this.#denied = denied;
    this.revisions = revisions;
    this.#options = options;
    const overrides = { ...(port !== undefined && { port }), ...(debug !== undefined && { debug }) };
    const isSecret = secretsKnownTo(registry);
    const control = new Control({ generations, overrides, source, events, lastRevision: revisions.last, isSecret });
    this.control = control;
    tellOutcome(events, log);
    recordRevisions(control, generations, revisions);
    this.guard = new ChangeGuard({ control, generations, revisions, events, log });
  }

  async start(): Promise<void> {
    const { workers, port, debug = false, resumeLastGood = false } = this.#options;
    if (workers) {
      const { Crew } = await import('./workers/crew.ts');
      const { generations, events, log } = this;
      const settings = { port: port ?? null, debug };
      const shared = { mirrors: this.#mirrors, denied: this.#denied };
      this.#crew = new Crew({ ...workers, settings, generations, ...shared, events, log });
      this.control.participants.push(this.#crew);
    }
    try {
      await this.control.apply({ trigger: 'start' });
    } catch (error) {
      if (!resumeLastGood || !(error instanceof ConfigErrors)) throw error;
      await this.#resume(error);
    }
  }

  /** @param refusal of the configuration that was to be started. */
  async #resume(refusal: ConfigErrors): Promise<void> {
    const revision = await this.revisions.lastGood();
    if (!revision) throw refusal;
    const { text, format, number } = revision;
    const message = `the configuration was refused, resuming revision ${number}`;
    await this.control.apply({ trigger: 'resume', source: new ConfigText(text, format), message });
    for (const issue of toRefusal(refusal, 'read', null).issues) this.log.error(`${message}: ${issueLine(issue)}`);
  }

  get config(): ServiceConfig {
    return this.generations.current.runtime.config;
  }

  get warnings(): readonly ConfigError[] {
    return this.control.current.warnings;
  }

  get status(): Gateway['status'] {
    const { id, hash, calls, streams } = this.generations.current.runtime;
    const elsewhere = (this.#crew?.workers ?? []).reduce((sum, worker) => sum + worker.calls + worker.streams, 0);
    return { revision: id, hash, calls: calls + streams + elsewhere, draining: this.generations.draining.length };
  }

  get crew(): Crew | null {
    return this.#crew;
  }

  get ending(): boolean {
    return this.#closing !== null;
  }

  get watcher(): Watcher | null {
    return this.#watcher;
  }

  apply(change: Change): Promise<Applied> {
    return this.control.apply(change);
  }

  reload(source?: Source): Promise<Applied> {
    return this.apply({ trigger: 'api', source });
  }

  async deny(address: ListenAddress): Promise<() => void> {
    const allow = this.#denied.deny(address);
    await this.#crew?.shareDenied();
    return () => {
      allow();
      void this.#crew?.shareDenied();
    };
  }

  async watch(): Promise<void> {
    if (typeof this.control.source !== 'string') return;
    this.#watcher ??= await followFiles(this.control, this.generations, this.events, this.log);
  }

  async listen(): Promise<{ host: string; port: number }> {
    const address = await (this.#crew ?? this.generations).listen();
    this.log.info(`Listening on port: ${address.port}`);
    this.#recording ??= recordStart(this.control, this.generations, this.revisions);
    return address;
  }

  async countInFlight(): Promise<number> {
    return this.#crew ? await this.#crew.countInFlight() : this.generations.inFlight;
  }

  async inject(request: InjectOptions | string): Promise<Response> {
    // Loaded when first used: a gateway that serves the network needs it never.
    const { inject } = await import('light-my-request');
    return inject(this.generations.serve as DispatchFunc, request);
  }

  async #historyKept(): Promise<void> {
    await this.#recording;
    await this.revisions.settled;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // Who asks whether it is ready is told at once that it is not any more.
    (this.#crew ?? this.generations).setClosing(true);
    this.guard.stop();
    await this.#watcher?.close();
    await this.control.close();
    await this.#crew?.close();
    await this.generations.close();
    await Promise.race([this.#historyKept(), delay(HISTORY_MS, undefined, { ref: false })]);
    await this.registry.close();
  }
}
