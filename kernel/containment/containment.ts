import { LRUCache } from 'lru-cache';
import type { Events, Log, Plugin, PluginSource } from '#contract';
import type { CountFault } from './hook-guard.ts';
import { LimitedLog } from './limited-log.ts';
import { type FaultDelta, PluginRecord, type Suspension } from './plugin-record.ts';
import { messageOf, placeIn, stackOf } from './source-place.ts';
import { disownStrayErrors, ownStrayErrors } from './stray-errors.ts';
import { type Held, type ProcessWatch, type WatchedPlugin, type WatchReport, watchProcess } from './watchdog.ts';

/** Maximum number of records kept, one per plugin and content of its file. */
const REMEMBERED = 500;

/** The code that faults are attributed to: a plugin from a file, or a handler that a plugin provides. */
export type BlamedPlugin = Pick<Plugin, 'name'> & { readonly source: PluginSource };

/** A plugin's suspension, or the end of one, which is sent to every process. */
export type SuspensionChange =
  | { readonly suspended: readonly { readonly name: string; readonly hash: string; readonly suspension: Suspension }[] }
  | { readonly lifted: string };

export interface ContainmentOptions {
  readonly log: Log;
  readonly events: Events;
  /** File descriptor for reports to the parent process; null without one. */
  readonly reports?: number | null | undefined;
}

/**
 * Counts and reports faults of plugins from files in one process, and tracks which plugins are suspended. Built-in
 * plugins are not monitored and incur no overhead.
 */
export class Containment {
  readonly #log: Log;
  readonly #events: Events;
  readonly #lines: LimitedLog;
  readonly #warnings: LimitedLog;
  readonly #reports: number | null;
  #watchdog: ProcessWatch | null = null;
  /** Fault records, by name of the plugin and hash of its content. */
  readonly #records = new LRUCache<string, PluginRecord>({ max: REMEMBERED });
  /** Announces a change of suspensions to every process; with a single process, it is applied directly. */
  share: (change: SuspensionChange) => void = (change) => this.apply(change);

  constructor({ log, events, reports = null }: ContainmentOptions) {
    this.#log = log;
    this.#events = events;
    this.#lines = new LimitedLog((line) => log.error(line));
    this.#warnings = new LimitedLog((line) => log.warning(line));
    this.#reports = reports;
  }

  /** All remembered records, in no particular order. */
  get records(): readonly PluginRecord[] {
    return [...this.#records.values()];
  }

  record({ name, source: { hash, files } }: BlamedPlugin): PluginRecord {
    const record = this.#recordOf(name, hash);
    if (record.files.size === 0) {
      record.files = new Set(files);
      this.#watch({ plugin: name, hash, files });
    }
    return record;
  }

  /** Monitors a plugin; the first one starts the watchdog of the process. */
  #watch(plugin: WatchedPlugin): void {
    if (!this.#watchdog) {
      ownStrayErrors(this);
      this.#watchdog = watchProcess(this.#reports, this.#onReport);
    }
    this.#watchdog.watch(plugin);
  }

  readonly #onReport = (report: WatchReport): void => {
    if ('held' in report) return this.#countHeld(report.held);
    for (const { plugin, hash, hook, ms } of report.busy) this.known(plugin, hash)?.countBusy(hook, ms, true);
  };

  #countHeld({ plugin, hash, hook, endpoint, place, ms }: Held): void {
    const record = this.known(plugin, hash);
    if (!record) return;
    record.countBlocking(ms, true);
    const of = hook === null ? '' : `hook "${hook}" of ${endpoint} `;
    const at = place === null ? '' : ` at ${place}`;
    this.#warnings.write(
      `${plugin} ${hook} ${place}`,
      `[PLUGIN: ${plugin}] ${of}blocked the event loop for ${ms} ms${at}`,
    );
  }

  /**
   * Counts an uncaught error as a fault of the plugin from a file that caused it. @returns false if no such plugin
   * caused it.
   */
  takes(error: unknown, files: readonly string[]): boolean {
    const attached = this.records.filter((record) => record.files.size > 0);
    for (const file of files) {
      const record = attached.findLast((one) => one.files.has(file));
      if (!record) continue;
      this.fault({ record, hook: 'outside of a request', endpoint: 'the process' }, error, 0);
      return true;
    }
    if (files.length > 0 || attached.length === 0) return false;
    const names = [...new Set(attached.map(({ name }) => name))].join(', ');
    const line = `[PLUGIN: one of ${names}] failed asynchronously: ${messageOf(error)}`;
    this.#lines.write(`stray ${messageOf(error)}`, line, `\n${stackOf(error)}`);
    return true;
  }

  #recordOf(name: string, hash: string): PluginRecord {
    const key = keyOf(name, hash);
    let record = this.#records.get(key);
    if (!record) {
      record = new PluginRecord(name, hash);
      this.#records.set(key, record);
    }
    return record;
  }

  /** Faults of a plugin with this file content; undefined without any. */
  known(name: string, hash: string): PluginRecord | undefined {
    return this.#records.get(keyOf(name, hash));
  }

  /** Counts and reports a fault; suspends the plugin after too many in a row. */
  readonly fault: CountFault = ({ record, hook, endpoint }, error, suspendAfter) => {
    const message = messageOf(error);
    const stack = stackOf(error);
    const place = placeIn(record.files, stack);
    record.count({ hook, count: 1, message, endpoint, place, at: Date.now() }, true);
    const at = place === null ? '' : ` at ${place}`;
    const line = `[PLUGIN: ${record.name}] hook "${hook}" of ${endpoint} failed${at}: ${message}`;
    this.#lines.write(`${record.name} ${hook} ${place}`, line, stack === '' ? '' : `\n${stack}`);
    if (suspendAfter > 0 && ++record.inRow === suspendAfter && !record.suspension) this.#suspend(record, message);
  };

  #suspend({ name, hash, inRow }: PluginRecord, message: string): void {
    const suspension = { since: Date.now(), message };
    this.#log.error(`[PLUGIN: ${name}] is suspended after ${inRow} consecutive faults; last fault: ${message}`);
    this.#events.emit('plugin.suspended', { plugin: name, faults: inRow, message });
    this.share({ suspended: [{ name, hash, suspension }] });
  }

  /** Lifts the suspension of a plugin in every process. @returns false when it is not suspended. */
  lift(name: string): boolean {
    if (!this.records.some((record) => record.name === name && record.suspension)) return false;
    this.#log.info(`[PLUGIN: ${name}] is no longer suspended`);
    this.#events.emit('plugin.resumed', { plugin: name });
    this.share({ lifted: name });
    return true;
  }

  /** Applies a change of a suspension, which this process or another one decided on. */
  apply(change: SuspensionChange): void {
    if ('lifted' in change) {
      for (const record of this.records) {
        if (record.name !== change.lifted) continue;
        record.suspension = null;
        record.inRow = 0;
      }
      return;
    }
    for (const { name, hash, suspension } of change.suspended) {
      this.#recordOf(name, hash).suspension ??= suspension;
    }
  }

  /** Returns all current suspensions, as changes for a process that has just started. */
  get suspensions(): SuspensionChange {
    return {
      suspended: this.records.flatMap(({ name, hash, suspension }) => (suspension ? [{ name, hash, suspension }] : [])),
    };
  }

  /** Faults in this process since the last call. */
  takeDelta(): FaultDelta[] {
    return this.records.flatMap((record) => record.takeDelta() ?? []);
  }

  /** Adds the faults reported by another process. */
  merge(delta: readonly FaultDelta[]): void {
    for (const { name, hash, faults, heldMs, busyMs } of delta) {
      const record = this.#recordOf(name, hash);
      for (const each of faults) record.count(each, false);
      for (const ms of heldMs) record.countBlocking(ms, false);
      for (const [hook, ms] of busyMs) record.countBusy(hook, ms, false);
    }
  }

  /** Counts the time for which a process was blocked that was ended before it could report this. */
  mergeHeld({ plugin: name, hash, hook, ms }: Held): void {
    this.merge([{ name, hash, faults: [], heldMs: [ms], busyMs: hook === null ? [] : [[hook, ms]] }]);
  }

  async close(): Promise<void> {
    this.#lines.close();
    this.#warnings.close();
    disownStrayErrors(this);
    await this.#watchdog?.close();
  }
}

function keyOf(name: string, hash: string): string {
  return `${hash} ${name}`;
}
