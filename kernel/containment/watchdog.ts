import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { connectionOwner, runOwned } from '../contract/internal.ts';
import { freeDebuggerOf } from './debugger-lock.ts';
import { BEAT, type HookLabel, marks, onLabel } from './marks.ts';
import { notedSources } from './source-columns.ts';

/** Report of a plugin whose code blocked the event loop. */
export interface Held {
  readonly plugin: string;
  readonly hash: string;
  /** The hook that was running; null if the code ran after an await, or does not belong to a request. */
  readonly hook: string | null;
  readonly endpoint: string | null;
  /** Position in the plugin's source; null when it was not determined. */
  readonly place: string | null;
  readonly ms: number;
}

/** Time for which the synchronous code of a hook ran, estimated from samples. */
export interface Busy {
  readonly plugin: string;
  readonly hash: string;
  readonly hook: string;
  /** Milliseconds since the last report. */
  readonly ms: number;
}

/** Message of the watching thread. */
export type WatchReport = { readonly held: Held } | { readonly busy: readonly Busy[] };

/** Formats a report, as in `plugin "acme/audit" has blocked the event loop for 11 s at /app/audit.ts:3:5, in hook "proxy" of GET /a`. */
export function describeHeld({ plugin, hook, endpoint, place, ms }: Held): string {
  const at = place === null ? '' : ` at ${place}`;
  const of = hook === null ? '' : `, in hook "${hook}" of ${endpoint}`;
  return `plugin "${plugin}" has blocked the event loop for ${Math.round(ms / 1000)} s${at}${of}`;
}

export interface WatchedPlugin {
  readonly plugin: string;
  readonly hash: string;
  readonly files: readonly string[];
}

export interface ThreadOptions {
  readonly marks: Int32Array;
  /** File descriptor for reports of possibly endless blocking to the parent process; null for none. */
  readonly reports: number | null;
}

/** Interval of the event loop's heartbeat, in milliseconds. */
const BEAT_MS = 20;

/** Thread that watches the event loop of this process while plugins from files are loaded. */
class Watchdog {
  readonly #thread: Worker;
  readonly #beating: NodeJS.Timeout;

  constructor(reports: number | null) {
    const options: ThreadOptions = { marks, reports };
    const program = new URL(`./watchdog-thread${extname(import.meta.url)}`, import.meta.url);
    this.#thread = new Worker(program, { workerData: options, name: 'watchdog', execArgv: [] });
    this.#thread.on('message', (report: WatchReport) => {
      for (const listener of listeners) listener(report);
    });
    // If the thread fails, the process keeps running without the watchdog.
    this.#thread.on('error', () => {});
    // Must follow the calls that add listeners: a message listener makes the thread keep the process alive, which
    // `unref` undoes.
    this.#thread.unref();
    onLabel((label: HookLabel, number: number) => this.#thread.postMessage({ label, number }));
    this.#beating = setInterval(() => {
      marks[BEAT]! += 1;
    }, BEAT_MS).unref();
  }

  watch(plugin: WatchedPlugin): void {
    this.#thread.postMessage({ plugin, sources: notedSources(plugin.files) });
  }

  async end(): Promise<void> {
    clearInterval(this.#beating);
    onLabel(null);
    const { threadId } = this.#thread;
    await this.#thread.terminate();
    freeDebuggerOf(threadId);
  }
}

const listeners = new Set<(report: WatchReport) => void>();
let watchdog: Watchdog | null = null;

/** A registration with the watchdog of the process, which stops after the last registration has ended. */
export interface ProcessWatch {
  watch(plugin: WatchedPlugin): void;
  close(): Promise<void>;
}

/** @param reports as of `ThreadOptions`; the first caller's value is used. */
export function watchProcess(reports: number | null, onReport: (report: WatchReport) => void): ProcessWatch {
  const owner = connectionOwner('plugin watchdog', 'its thread', () => void watchdog?.end());
  watchdog ??= runOwned(owner, () => new Watchdog(reports));
  const own = watchdog;
  listeners.add(onReport);
  return {
    watch: (plugin) => own.watch(plugin),
    async close() {
      listeners.delete(onReport);
      if (listeners.size > 0 || watchdog !== own) return;
      watchdog = null;
      await own.end();
    },
  };
}
