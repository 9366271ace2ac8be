import { resolve } from 'node:path';
import { type ConfigError, isObject } from '#contract';
import { type IsSecret, toIssues, underEnvironment, withoutSecrets } from '../config/index.ts';
import { GatewayError, runOwned, scheduler } from '../contract/internal.ts';
import type { Registry } from '../registry/registry.ts';
import type { Reach } from '../runtime/build/build.ts';
import { type Overrides, readConfig } from '../runtime/build/read-config.ts';
import type { EndpointChanges } from '../runtime/prints/endpoint-prints.ts';
import { takeFingerprint } from '../runtime/prints/fingerprint.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { FileRead } from '../runtime/watch/index.ts';
import { stoppedTimers, systemTimers } from '../runtime/watch/timers.ts';
import { type Attempt, Attempts } from './attempts.ts';
import type { Applied, Change, Current } from './change.ts';
import { differsFromFile } from './drift.ts';
import type { EventLog } from './event-log.ts';
import { FilesToWatch } from './files-to-watch.ts';
import type { Generations } from './generations.ts';
import { Mutex } from './mutex.ts';
import { abortAll, commitAll, type Participant, prepareAll, type Ready } from './participant.ts';
import { readChange } from './read-change.ts';
import { briefly, toRefusal } from './refusal.ts';
import { RunningAttempt } from './running-attempt.ts';
import { isSame } from './same-configuration.ts';
import { SecretKeeper } from './secrets/secret-keeper.ts';
import { ConfigText, type Snapshot, type Source } from './snapshot.ts';

export interface ControlOptions {
  readonly generations: Generations;
  readonly overrides: Overrides;
  readonly source: Source;
  readonly events: EventLog;
  /** Number of the revision before the first one. */
  readonly lastRevision?: number;
  /** Selects the values that errors must not show. Default: by names and texts. */
  readonly isSecret?: IsSecret;
}

const nothing: EndpointChanges = { added: [], changed: [], removed: [] };

/**
 * Decides which configuration serves: takes changes one at a time from all callers and runs each through the same
 * steps. A change that fails at any step leaves the serving configuration untouched.
 */
export class Control {
  readonly attempts = new Attempts();
  /** Ports and processes that switch over together with this one. */
  readonly participants: Participant[] = [];
  /** Called for every change that was applied or already serves, before the caller gets its result; never for dry runs. */
  readonly onDone: ((change: Change, applied: Applied) => Promise<void> | void)[] = [];
  /** Called when an attempt ends, including dry runs, before the caller gets its result; `applied` is null when the change was rejected. */
  readonly onSettled: ((attempt: Attempt, applied: Applied | null, change: Change) => void)[] = [];
  /** The configuration file: its text as last loaded and served, or written; null before that. */
  readonly file: { text: string | null } = { text: null };
  /** Secrets of the serving configuration. */
  readonly secrets: SecretKeeper;
  readonly #options: ControlOptions;
  readonly #mutex = new Mutex();
  #running: RunningAttempt | null = null;
  #source: Source;
  #revision: number;
  #closed = false;
  #current: Current | null = null;
  #replaced: Current | null = null;
  readonly #files = new FilesToWatch();

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#source = options.source;
    this.#revision = options.lastRevision ?? 0;
    const { log, sandbox } = options.generations.registry.services;
    const timers = sandbox ? stoppedTimers : systemTimers;
    this.secrets = new SecretKeeper({ log, timers, rebuild: (change) => this.apply(change) });
  }

  /** Command line options that override every configuration. */
  get overrides(): Overrides {
    return this.#options.overrides;
  }

  get current(): Current {
    return this.#current!;
  }

  /** The configuration that served before; null before the first change. */
  get replaced(): Current | null {
    return this.#replaced;
  }

  /** Source of the serving configuration. */
  get source(): Source {
    return this.#source;
  }

  /** Files to watch, with their content as last read: the configuration's own, and those that the last attempt read. */
  get filesRead(): readonly FileRead[] {
    return this.#files.listFor(this.#source);
  }

  /** Plugin registry for inspecting configurations. With a closed reach, it contains only the plugins from files that already serve, and evaluates no others. */
  registryFor(reach: Reach): Registry {
    const { registry } = this.#options.generations;
    if (reach !== 'closed') return registry;
    const { data } = this.current.snapshot;
    const document = underEnvironment(data, process.env);
    const settings = isObject(document) ? document['plugin'] : undefined;
    return registry.closed(this.#serving.registry, settings);
  }

  /** True for the configuration file and the files that it was last built from. @param path absolute. */
  isOfDocument(path: string): boolean {
    return typeof this.#source === 'string' && (resolve(this.#source) === path || this.#files.isOfDocument(path));
  }

  /** True while a change is being applied. */
  get busy(): boolean {
    return this.#mutex.locked;
  }

  /**
   * True when the configuration on disk differs from the serving one: another was applied without being written, or the
   * file was rejected. Always false if the configuration is not a file.
   */
  async hasDrifted(): Promise<boolean> {
    if (typeof this.#source !== 'string') return false;
    const { current, overrides, secrets } = this;
    return differsFromFile(this.#source, {
      serving: this.#serving,
      textHash: current.snapshot.textHash,
      overrides,
      registry: this.registryFor('closed'),
      secrets: secrets.values ?? undefined,
    });
  }

  /**
   * Applies a change. If it fails, the old configuration continues to serve.
   * @throws Refusal with every error; errors thrown by `provided` and `source`; GatewayError RELOAD_IN_PROGRESS; any
   * other error is a bug in the gateway.
   */
  async apply(change: Change): Promise<Applied> {
    const { waitMs = Number.POSITIVE_INFINITY } = change;
    if (waitMs > 0 && !change.dryRun) this.#running?.overtake();
    const leave = await this.#mutex.acquire(waitMs);
    try {
      if (this.#closed) throw new GatewayError('GATEWAY_CLOSED', 'the gateway is closing');
      if (this.#current) change.provided?.(this.#serving);
      const { source = this.#source } = change;
      const sourced = { ...change, source: typeof source === 'function' ? source() : source };
      const attempt = this.attempts.begin(sourced, this.#current ? this.#serving.id : 0);
      const running = new RunningAttempt(sourced, attempt, this.#options.events);
      return await runOwned(running.owner, () => this.#attempt(running));
    } finally {
      leave();
    }
  }

  /** Cancels the current change if it is waiting, and accepts no further changes. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#running?.cancel('the gateway is closing');
    const leave = await this.#mutex.acquire(Number.POSITIVE_INFINITY);
    leave();
    await this.secrets.close();
  }

  get #serving(): Runtime {
    return this.#options.generations.current.runtime;
  }

  async #attempt(running: RunningAttempt): Promise<Applied> {
    const { events } = this.#options;
    const { change, attempt, phases } = running;
    const startedAt = performance.now();
    this.#running = running;
    change.begun?.(attempt.id);
    events.emit('reload.started', { attempt: attempt.id, trigger: change.trigger });
    const end = (result: Attempt['result']): void => {
      this.#running = null;
      running.end();
      if (!change.dryRun) this.#files.note(running, result === 'failed');
      attempt.result = result;
      attempt.revision = this.#current ? this.#serving.id : 0;
      attempt.durationMs = Math.round(performance.now() - startedAt);
      attempt.phases = phases.spentMs;
    };
    try {
      const outcome = await this.#run(running).finally(() => this.secrets.release(running.secrets));
      end(outcome.result);
      const { durationMs, phases: spent, revision } = attempt;
      const applied = { ...outcome, revision, attempt: attempt.id, durationMs, phases: spent };
      if (!change.dryRun) for (const report of this.onDone) await report(change, applied);
      for (const report of this.onSettled) report(attempt, applied, change);
      events.emit('reload.succeeded', { ...applied, warnings: [], issues: briefly(applied.issues) });
      return applied;
    } catch (error) {
      const refusal = toRefusal(error, phases.current, running.snapshot?.document ?? null, this.#options.isSecret);
      const thrown = refusal.slug === 'internal' ? error : refusal;
      this.attempts.fail(attempt, refusal, thrown);
      end('failed');
      for (const report of this.onSettled) report(attempt, null, change);
      events.emit('reload.failed', attempt);
      throw thrown;
    }
  }

  async #run(running: RunningAttempt): Promise<Omit<Applied, 'revision' | 'attempt' | 'durationMs' | 'phases'>> {
    const { change, phases, files } = running;
    const { generations, overrides } = this.#options;
    const snapshot = await readChange(running, this.#current, this.secrets, { generations, overrides });
    await scheduler.yield();
    phases.enter('validate');
    const before = this.#current && this.#serving;
    const values = running.secrets?.values;
    const normalized = await readConfig(snapshot.data, overrides, generations.registry, files, before, values);
    await scheduler.yield();
    // A configuration with errors has no fingerprint, so it is not compared with the active one: its preparation
    // reports all errors.
    const fingerprint =
      normalized.errors.length === 0 &&
      before &&
      (await takeFingerprint(normalized.config, await before.fingerprinted()));
    const issuesOf = (warnings: readonly ConfigError[]) => ({
      warnings: warnings.map(withoutSecrets),
      issues: toIssues(snapshot.document, warnings, 'warning', this.#options.isSecret),
    });
    const unavailable = running.secrets?.warnings ?? [];
    const previous = before?.id ?? 0;
    const own = change.participant ? [change.participant] : [];
    if (before && fingerprint && !change.force && isSame(before, fingerprint, files)) {
      const ready = await this.#prepareOthers(running, before, own);
      const reported = { result: 'unchanged', previous, hash: before.hash, changes: nothing, rebound: [] } as const;
      if (change.dryRun) {
        await abortAll(ready);
        return { ...reported, ...issuesOf(unavailable) };
      }
      // The new document replaces the equivalent previous one, so that the next document is compared with it.
      before.understood = normalized.understood;
      this.#adopt(running, snapshot, this.current.warnings, false);
      return { ...reported, ...issuesOf([...unavailable, ...(await commitAll(ready)).failures]) };
    }
    await scheduler.yield();
    const prepared = await generations.prepare(normalized, files, this.#revision + 1, phases, change.force);
    if (fingerprint) prepared.runtime.fingerprint = fingerprint;
    const changes = fingerprint ? before.fingerprint.endpoints.changesTo(fingerprint.endpoints) : nothing;
    const hash = before ? prepared.runtime.hash : '';
    const report = { previous, hash, changes };
    let ready: readonly Ready[];
    try {
      if (change.rehearse) phases.enter('rehearse');
      await change.rehearse?.(running.next(prepared.runtime), running.attempt);
      ready = await this.#prepareOthers(running, prepared.runtime, [...this.participants, ...own]);
    } catch (error) {
      await prepared.abort();
      throw error;
    }
    if (change.dryRun) {
      await Promise.all([abortAll(ready), prepared.abort()]);
      return { ...report, result: 'dry_run', rebound: [], ...issuesOf([...unavailable, ...prepared.warnings]) };
    }
    phases.enter('swap');
    const { rebound } = prepared.commit();
    this.#revision = prepared.runtime.id;
    this.#adopt(running, snapshot, prepared.warnings, true);
    const others = await commitAll(ready);
    phases.end();
    const warnings = issuesOf([...unavailable, ...prepared.warnings, ...others.failures]);
    return { ...report, result: 'applied', rebound: [...rebound, ...others.rebound], ...warnings };
  }

  /** Makes the configuration the current one: reloads read its source from now on. */
  #adopt(running: RunningAttempt, snapshot: Snapshot, warnings: readonly ConfigError[], isNew: boolean): void {
    const { trigger } = running.change;
    const at = new Date().toISOString();
    this.secrets.adopt(running.secrets);
    const secrets = this.secrets.values;
    running.secrets = null;
    if (isNew) this.#replaced = this.#current;
    // A configuration that was resumed at startup counts as the requested one once the file has the same content.
    const isMended = this.#current?.trigger === 'resume' && typeof snapshot.source === 'string';
    this.#current =
      isNew || isMended || !this.#current
        ? { snapshot, warnings, trigger, at, secrets }
        : { ...this.#current!, snapshot, secrets };
    if (!(snapshot.source instanceof ConfigText)) this.#source = snapshot.source;
    if (typeof snapshot.source === 'string') this.file.text = snapshot.document!.written;
  }

  async #prepareOthers(
    running: RunningAttempt,
    runtime: Runtime,
    participants: readonly Participant[],
  ): Promise<readonly Ready[]> {
    if (participants.length === 0) return [];
    running.phases.enter('prepare');
    return prepareAll(participants, running.next(runtime), running.change.dryRun === true);
  }
}
