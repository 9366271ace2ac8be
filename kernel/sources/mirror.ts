import { setTimeout as delay } from 'node:timers/promises';
import { type ConfigSource, type Log, SourceBusy, type SourceRevision } from '#contract';
import { runAs, silentLog } from '../contract/internal.ts';
import { untilAborted } from '../values/until-aborted.ts';
import type { CopiedRevision, SourceCopy } from './copy.ts';
import { demandUsable } from './revision-limits.ts';

/** Time limit of reading a revision, in milliseconds. */
const READ_MS = 30_000;

/** Longest wait for a source to close, in milliseconds. */
const CLOSE_MS = 2_000;

/** Pauses between attempts after a failure, in milliseconds. They double, and each is shortened by up to a half at random. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** Longest time without reading a source that reports changes by itself, in milliseconds, in case a report is lost. */
const LONGEST_WAIT_MS = 10 * 60_000;

/** Pause after a reported change, in milliseconds: other programs write the files of a configuration one by one. */
const SETTLE_MS = 100;

/** Fraction by which the interval is shortened at random, so that gateways do not read at the same moment. */
const JITTER = 0.1;

/**
 * Relation of the copy to the store. `older`: the store has an earlier revision, which is not applied. `absent`: it has no
 * configuration. `unusable`: what it has cannot be stored as files.
 */
export type SourceState = 'current' | 'unreachable' | 'older' | 'absent' | 'unusable';

/** State of a mirrored source. */
export interface SourceStatus {
  /** Address without credentials. */
  readonly address: string;
  readonly state: SourceState;
  /** Reason of the state, if there is more to say. */
  readonly reason: string | null;
  /** Version of the copy, from which the gateway reads. */
  readonly version: string | null;
  /** Time at which the copy was last found to be current, in milliseconds since 1970. */
  readonly readAt: number | null;
}

/** The store of a serving gateway. */
export interface ConfigStore {
  readonly status: SourceStatus;
  /** Copies the current revision. Resolves when the store was read, successfully or not. */
  refresh(): Promise<void>;
}

export interface MirrorOptions {
  readonly source: ConfigSource;
  /** Address without credentials. */
  readonly shown: string;
  readonly copy: SourceCopy;
  /** Interval of a source that does not report changes, in milliseconds. */
  readonly intervalMs: number;
  readonly maxBytes: number;
  /** Time in milliseconds since 1970. */
  readonly now: () => number;
  /** Pauses. Default: a timer. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Keeps a copy of a source in a directory, whose files the gateway reads and watches. */
export class SourceMirror implements ConfigStore {
  readonly #options: MirrorOptions;
  readonly #pause: NonNullable<MirrorOptions['pause']>;
  readonly #closing = new AbortController();
  #log: Log = silentLog;
  #state: SourceState = 'current';
  #reason: string | null = null;
  #following: Promise<void> | null = null;
  /** Ends the current pause or wait. */
  #wake = new AbortController();
  /** Called after the next reading. */
  readonly #refreshed: (() => void)[] = [];
  /** Pause that the store requested, in milliseconds. */
  #pauseMs = 0;
  /** Version that the store last had, for `awaitChange`. */
  #version: string | null = null;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#pause = options.pause ?? ((ms, signal) => delay(ms, undefined, { signal, ref: false }));
  }

  get status(): SourceStatus {
    const { shown, copy } = this.#options;
    const { current } = copy;
    return {
      address: shown,
      state: this.#state,
      reason: this.#reason,
      version: current?.version ?? null,
      readAt: current?.readAt ?? null,
    };
  }

  /** Path of the configuration. Requires `start`. */
  get file(): string {
    return this.#options.copy.file;
  }

  /**
   * Reads the source once. If that fails, the copy of an earlier process is used.
   * @returns a notice for the operator if the copy is not current; null otherwise.
   * @throws Error with the reason without a copy, or if its directory cannot be used.
   */
  async start(): Promise<string | null> {
    const { copy } = this.#options;
    await copy.open();
    await this.#read();
    if (this.#state === 'current') return null;
    if (copy.current === null) throw new Error(this.#described());
    const { version, readAt } = copy.current;
    return `${this.#described()}; starting with the copy of version ${version}, read at ${new Date(readAt).toISOString()}`;
  }

  /** Copies changes of the source from now on. */
  follow(log: Log): void {
    this.#log = log;
    this.#following ??= runAs('configuration source', this.#options.shown, () => this.#run());
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
    for (const resolve of this.#refreshed.splice(0)) resolve();
    const { source } = this.#options;
    // The process ends in any case.
    await untilAborted(source.close(), AbortSignal.timeout(CLOSE_MS)).catch(() => {});
  }

  /**
   * Reads the source now instead of at the next change, or once `follow` is called. Resolves when it was read, successfully
   * or not, or when the mirror is closed.
   */
  refresh(): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#refreshed.push(resolve);
    this.#wake.abort();
    return promise;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let failures = this.#state === 'unreachable' ? 1 : 0;
    while (!signal.aborted) {
      const { signal: wake } = this.#wake;
      const either = AbortSignal.any([signal, wake]);
      try {
        either.throwIfAborted();
        await (failures > 0
          ? this.#pause(Math.max(pauseAfter(failures), this.#pauseMs), either)
          : this.#awaitChange(either));
      } catch (error) {
        if (!either.aborted) {
          this.#enter('unreachable', reasonOf(error));
          failures++;
          continue;
        }
      }
      if (signal.aborted) break;
      // Requests to read that arrive from here on are for the next reading.
      const refreshed = this.#refreshed.splice(0);
      this.#wake = new AbortController();
      await this.#read();
      for (const resolve of refreshed) resolve();
      failures = this.#state === 'unreachable' ? failures + 1 : 0;
    }
  }

  async #awaitChange(signal: AbortSignal): Promise<void> {
    const { source, intervalMs } = this.#options;
    if (!source.awaitChange) return this.#pause(intervalMs * (1 - JITTER * Math.random()), signal);
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal]);
    try {
      await Promise.race([source.awaitChange(this.#version, either), this.#pause(LONGEST_WAIT_MS, either)]);
    } finally {
      ended.abort();
    }
    await this.#pause(SETTLE_MS, signal);
  }

  /** Reads the source and updates the copy. Never rejects: the outcome is the state. */
  async #read(): Promise<void> {
    const { source, maxBytes } = this.#options;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(READ_MS)]);
    let revision: SourceRevision | null;
    try {
      revision = await untilAborted(source.read(signal), signal);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#pauseMs = error instanceof SourceBusy ? error.pauseMs : 0;
      this.#enter('unreachable', signal.aborted ? `no response within ${READ_MS / 1000} s` : reasonOf(error));
      return;
    }
    this.#version = revision?.version ?? null;
    if (revision === null) {
      this.#enter('absent', null);
      return;
    }
    try {
      demandUsable(revision, maxBytes);
      await this.#take(revision);
    } catch (error) {
      this.#enter('unusable', reasonOf(error));
    }
  }

  async #take(revision: SourceRevision): Promise<void> {
    const { copy, now, shown } = this.#options;
    const { current } = copy;
    // The same files with a smaller order: the store was restored, and serves what it should.
    if (current !== null && isOlder(revision, current) && !copy.holds(revision.files)) {
      const reason = `version ${revision.version} is older than ${current.version}`;
      this.#enter('older', `${reason}, which serves; to accept it, remove ${copy.directory} and restart`);
      return;
    }
    if (current !== null && this.#main(revision) !== current.main) {
      throw new Error(
        `the configuration was named ${current.main} and is now ${this.#main(revision)}: restart to use it`,
      );
    }
    const isNew = await copy.write(revision, now());
    if (isNew) this.#log.info(`version ${revision.version} of ${shown} was read`);
    this.#enter('current', null);
  }

  #main({ files }: SourceRevision): string {
    return files.keys().next().value!;
  }

  /** Logs a state when it begins. */
  #enter(state: SourceState, reason: string | null): void {
    const hasChanged = state !== this.#state || (state !== 'unreachable' && reason !== this.#reason);
    this.#state = state;
    this.#reason = reason;
    if (!hasChanged) return;
    if (state === 'current') this.#log.info(this.#described());
    else this.#log.warning(`${this.#described()}; the configuration does not change`);
  }

  #described(): string {
    return messages[this.#state](this.#options.shown, this.#reason ?? '');
  }
}

const messages: Readonly<Record<SourceState, (shown: string, reason: string) => string>> = {
  current: (shown) => `${shown} is available again`,
  unreachable: (shown, reason) => `${shown} cannot be read: ${reason}`,
  older: (shown, reason) => `${shown} has an earlier revision: ${reason}`,
  absent: (shown) => `${shown} has no configuration`,
  unusable: (shown, reason) => `${shown} has files that cannot be used: ${reason}`,
};

function isOlder({ order }: SourceRevision, current: CopiedRevision): boolean {
  return order !== null && current.order !== null && order < current.order;
}

function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS) * (1 - Math.random() / 2);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
