import { resolve } from 'node:path';
import { type ConfigError, isObject } from '#contract';
import { type IsSecret, toIssues, underEnvironment } from '../config/index.ts';
import { GatewayError, scheduler } from '../contract/internal.ts';
import type { Registry } from '../registry/registry.ts';
import type { Reach } from '../runtime/build.ts';
import type { EndpointChanges } from '../runtime/endpoint-prints.ts';
import { takeFingerprint } from '../runtime/fingerprint.ts';
import { type Overrides, readConfig } from '../runtime/read-config.ts';
import { ReadFiles } from '../runtime/read-files.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { FileRead } from '../runtime/watch/index.ts';
import { untilAborted } from '../values/until-aborted.ts';
import { type Attempt, Attempts } from './attempts.ts';
import type { Applied, Change, Current } from './change.ts';
import type { EventLog } from './event-log.ts';
import { FilesToWatch } from './files-to-watch.ts';
import type { Generations } from './generations.ts';
import { Mutex } from './mutex.ts';
import { abortAll, commitAll, type Participant, type Ready } from './participant.ts';
import { briefly, toRefusal } from './refusal.ts';
import { RunningAttempt, type Sourced } from './running-attempt.ts';
import { hasSameFiles, isSame } from './same-configuration.ts';
import { ConfigText, readSnapshot, type Snapshot, type Source } from './snapshot.ts';

export interface ControlOptions {
  readonly generations: Generations;
  readonly overrides: Overrides;
  readonly source: Source;
  readonly events: EventLog;
  /** Number of the revision before the first one. */
  readonly lastRevision?: number;
  /** Which values no mistake shows. Default: by names and texts. */
  readonly isSecret?: IsSecret;
}

const nothing: EndpointChanges = { added: [], changed: [], removed: [] };

/**
 * Decides what serves: takes changes one at a time from whoever asks, and lets each go through the same steps. A change
 * that fails at any of them leaves what serves untouched.
 */
export class Control {
  readonly attempts = new Attempts();
  /** Ports and processes that change over together with this one. */
  readonly participants: Participant[] = [];
  /** Told of every change that was applied, or found to serve already, before it is answered; of dry runs nothing. */
  readonly onDone: ((change: Change, applied: Applied) => Promise<void> | void)[] = [];
  /** Told how every attempt ended, dry runs included, before whoever asked for it is; null when it was refused. */
  readonly onSettled: ((attempt: Attempt, applied: Applied | null, change: Change) => void)[] = [];
  /** The configuration's file: its text as it was last loaded and served, or written; null when it never was. */
  readonly file: { text: string | null } = { text: null };
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
  }

  /** Command line options that override every configuration. */
  get overrides(): Overrides {
    return this.#options.overrides;
  }

  get current(): Current {
    return this.#current!;
  }

  /** What served before; null before the first change. */
  get replaced(): Current | null {
    return this.#replaced;
  }

  /** Where the serving configuration came from. */
  get source(): Source {
    return this.#source;
  }

  /** Files to watch, with their content as it was last read: the configuration's own, and what the last attempt read. */
  get filesRead(): readonly FileRead[] {
    return this.#files.listFor(this.#source);
  }

  /** For looking at configurations; a closed one has the plugins from files that serve, and evaluates none. */
  registryFor(reach: Reach): Registry {
    const { registry } = this.#options.generations;
    if (reach !== 'closed') return registry;
    const { data } = this.current.snapshot;
    const document = underEnvironment(data, process.env);
    const settings = isObject(document) ? document['plugin'] : undefined;
    return registry.closed(this.#serving.registry, settings);
  }

  /** True for the configuration's file, and for those that it was last made of. @param path absolute. */
  isOfDocument(path: string): boolean {
    return typeof this.#source === 'string' && (resolve(this.#source) === path || this.#files.isOfDocument(path));
  }

  /** True while a change is being applied. */
  get busy(): boolean {
    return this.#mutex.locked;
  }

  /**
   * True when the configuration on the disk is not the one that serves: another was applied without being written, or it
   * is refused. Always false where the configuration is not a file.
   */
  async hasDrifted(): Promise<boolean> {
    if (typeof this.#source !== 'string') return false;
    try {
      const { textHash, data } = await readSnapshot(this.#source);
      const files = new ReadFiles();
      if (textHash === this.current.snapshot.textHash) return !hasSameFiles(this.#serving, files);
      const { config, errors } = await readConfig(data, this.overrides, this.registryFor('closed'), files);
      return (
        errors.length > 0 ||
        !isSame(this.#serving, await takeFingerprint(config, await this.#serving.fingerprinted()), files)
      );
    } catch {
      return true;
    }
  }

  /**
   * Applies a change.
   * @throws Refusal with every mistake; whatever `provided` and `source` throw; GatewayError RELOAD_IN_PROGRESS; any other error is a
   * fault of ours. The old configuration then serves on.
   */
  async apply(change: Change): Promise<Applied> {
    const { waitMs = Number.POSITIVE_INFINITY } = change;
    if (waitMs > 0 && !change.dryRun) this.#running?.overtake();
    const leave = await this.#mutex.acquire(waitMs);
    try {
      if (this.#closed) throw new GatewayError('GATEWAY_CLOSED', 'the gateway is closing');
      if (this.#current) change.provided?.(this.#serving);
      const { source = this.#source } = change;
      return await this.#attempt({ ...change, source: typeof source === 'function' ? source() : source });
    } finally {
      leave();
    }
  }

  /** Cancels the change under way where it waits, and takes no other one. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#running?.cancel('the gateway is closing');
    const leave = await this.#mutex.acquire(Number.POSITIVE_INFINITY);
    leave();
  }

  get #serving(): Runtime {
    return this.#options.generations.current.runtime;
  }

  async #attempt(change: Sourced): Promise<Applied> {
    const { events } = this.#options;
    const attempt = this.attempts.begin(change, this.#current ? this.#serving.id : 0);
    const startedAt = performance.now();
    const running = new RunningAttempt(change, attempt, (phase) =>
      events.emit('reload.phase', { attempt: attempt.id, phase }),
    );
    const { phases } = running;
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
      const outcome = await this.#run(running);
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
    const known = this.#current?.snapshot.document ?? null;
    const reading = readSnapshot(change.source, (file) => running.noteFile(file), known);
    const snapshot = await untilAborted(reading, phases.signal);
    running.snapshot = snapshot;
    await scheduler.yield();
    phases.enter('validate');
    const before = this.#current && this.#serving;
    const normalized = await readConfig(snapshot.data, overrides, generations.registry, files, before);
    await scheduler.yield();
    // One with mistakes is the same as nothing: preparing it tells them all.
    const fingerprint =
      normalized.errors.length === 0 &&
      before &&
      (await takeFingerprint(normalized.config, await before.fingerprinted()));
    const issuesOf = (warnings: readonly ConfigError[]) => ({
      warnings,
      issues: toIssues(snapshot.document, warnings, 'warning', this.#options.isSecret),
    });
    const previous = before?.id ?? 0;
    const own = change.participant ? [change.participant] : [];
    if (before && fingerprint && !change.force && isSame(before, fingerprint, files)) {
      const ready = await this.#prepareOthers(running, before, own);
      const reported = { result: 'unchanged', previous, hash: before.hash, changes: nothing, rebound: [] } as const;
      if (change.dryRun) {
        await abortAll(ready);
        return { ...reported, ...issuesOf([]) };
      }
      // Of two documents that mean the same the one that is kept is the one to compare with.
      before.understood = normalized.understood;
      this.#adopt(change, snapshot, this.current.warnings, false);
      return { ...reported, ...issuesOf((await commitAll(ready)).failures) };
    }
    await scheduler.yield();
    const prepared = await generations.prepare(normalized, files, this.#revision + 1, phases, change.force);
    if (fingerprint) prepared.runtime.fingerprint = fingerprint;
    const changes = fingerprint ? before.fingerprint.endpoints.changesTo(fingerprint.endpoints) : nothing;
    const hash = before ? prepared.runtime.hash : '';
    const report = { previous, hash, changes };
    let ready: readonly Ready[];
    try {
      ready = await this.#prepareOthers(running, prepared.runtime, [...this.participants, ...own]);
    } catch (error) {
      await prepared.abort();
      throw error;
    }
    if (change.dryRun) {
      await Promise.all([abortAll(ready), prepared.abort()]);
      return { ...report, result: 'dry_run', rebound: [], ...issuesOf(prepared.warnings) };
    }
    phases.enter('swap');
    const { rebound } = prepared.commit();
    this.#revision = prepared.runtime.id;
    this.#adopt(change, snapshot, prepared.warnings, true);
    const others = await commitAll(ready);
    phases.end();
    const warnings = issuesOf([...prepared.warnings, ...others.failures]);
    return { ...report, result: 'applied', rebound: [...rebound, ...others.rebound], ...warnings };
  }

  /** The configuration serves; its source is from now on the one that is read again. */
  #adopt(change: Change, snapshot: Snapshot, warnings: readonly ConfigError[], isNew: boolean): void {
    const { trigger } = change;
    const at = new Date().toISOString();
    if (isNew) this.#replaced = this.#current;
    // A resumed configuration is the requested one once the file has the same content.
    const isMended = this.#current?.trigger === 'resume' && typeof snapshot.source === 'string';
    this.#current =
      isNew || isMended || !this.#current ? { snapshot, warnings, trigger, at } : { ...this.#current!, snapshot };
    if (!(snapshot.source instanceof ConfigText)) this.#source = snapshot.source;
    if (typeof snapshot.source === 'string') this.file.text = snapshot.document!.written;
  }

  /** Gets everybody ready, or nobody: none has anything to release when it throws. */
  async #prepareOthers(
    { change, snapshot, files, phases }: RunningAttempt,
    runtime: Runtime,
    participants: readonly Participant[],
  ): Promise<readonly Ready[]> {
    if (participants.length === 0) return [];
    phases.enter('prepare');
    const next = { runtime, snapshot: snapshot!, files: files.contents, signal: phases.signal };
    const settled = await Promise.allSettled(participants.map((participant) => participant.prepare(next)));
    const ready = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    try {
      const refused = settled.find((outcome) => outcome.status === 'rejected');
      if (refused) throw refused.reason;
      if (!change.dryRun) for (const one of ready) await one.precommit?.();
      return ready;
    } catch (error) {
      await abortAll(ready);
      throw error;
    }
  }
}
