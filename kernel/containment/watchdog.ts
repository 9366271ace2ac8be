import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { freeDebuggerOf } from './debugger-lock.ts';
import { BEAT, type HookLabel, marks, onLabel } from './marks.ts';
import { notedSources } from './source-columns.ts';

/** A plugin's code blocked the event loop. */
export interface Held {
  readonly plugin: string;
  readonly hash: string;
  /** The hook that ran; null where the code went on after it had waited, or belongs to no request. */
  readonly hook: string | null;
  readonly endpoint: string | null;
  /** In the plugin's source; null where it was not looked for. */
  readonly place: string | null;
  readonly ms: number;
}

/** As in `plugin "acme/audit" has blocked the event loop for 11 s at /app/audit.ts:3:5, in hook "proxy" of GET /a`. */
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
  /** Where what may never end is reported to the process that started this one; null for nowhere. */
  readonly reports: number | null;
}

/** Time between two beats of the event loop, in milliseconds. */
const BEAT_MS = 20;

/** The thread that watches the event loop of this process, for as long as somebody has plugins from files. */
class Watchdog {
  readonly #thread: Worker;
  readonly #beating: NodeJS.Timeout;

  constructor(reports: number | null) {
    const options: ThreadOptions = { marks, reports };
    const program = new URL(`./watchdog-thread${extname(import.meta.url)}`, import.meta.url);
    this.#thread = new Worker(program, { workerData: options, name: 'watchdog', execArgv: [] });
    this.#thread.unref();
    this.#thread.on('message', (held: Held) => {
      for (const listener of listeners) listener(held);
    });
    // Without it everything goes on as before, unwatched.
    this.#thread.on('error', () => {});
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

const listeners = new Set<(held: Held) => void>();
let watchdog: Watchdog | null = null;

/** A share in the watchdog of the process; it ends with the last one. */
export interface ProcessWatch {
  watch(plugin: WatchedPlugin): void;
  close(): Promise<void>;
}

/** @param reports as of `ThreadOptions`; that of the first counts. */
export function watchProcess(reports: number | null, onHeld: (held: Held) => void): ProcessWatch {
  watchdog ??= new Watchdog(reports);
  const own = watchdog;
  listeners.add(onHeld);
  return {
    watch: (plugin) => own.watch(plugin),
    async close() {
      listeners.delete(onHeld);
      if (listeners.size > 0 || watchdog !== own) return;
      watchdog = null;
      await own.end();
    },
  };
}
