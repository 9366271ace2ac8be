import type { Log, LogMessage } from '#contract';
import { connectionOwner, runOwned } from '../contract/internal.ts';
import type { FileRead, Watcher, WatchOptions } from '../runtime/watch/index.ts';
import type { Control } from './control.ts';
import type { EventLog } from './event-log.ts';
import type { Generations } from './generations.ts';
import { reloadSettings } from './reload-settings.ts';

/**
 * Applies saved changes. Watches the configuration file and every file that the last attempt read, regardless of its
 * trigger. A broken file is logged, and watching continues. While many replaced configurations still have requests,
 * changes wait.
 */
export async function followFiles(
  control: Control,
  generations: Generations,
  events: EventLog,
  log: Log,
): Promise<Watcher> {
  // The library that watches files is loaded after the port is open, so that it does not delay startup.
  const { watchFiles } = await import('../runtime/watch/index.ts');
  const follow = async (changed: readonly string[]): Promise<void> => {
    /**
     * If only a file that the configuration names has changed, the active configuration is built again instead of
     * reading its file, which may differ.
     */
    const source = () => {
      const isDocument = changed.some((path) => control.isOfDocument(path));
      return isDocument ? control.source : control.current.snapshot.source;
    };
    await generations.room(reloadSettings(generations.current.runtime).maxDraining);
    // A rejection is already reported as an event and in the log, so watching continues.
    await control.apply({ trigger: 'watch', source, saved: changed }).catch(() => {});
  };
  const options = { log: withEvents(log.at('[WATCH]'), events), onChange: follow };
  const watcher = new ReplaceableWatcher(() => watchFiles(options));
  control.onSettled.push(() => void watcher.watch(control.filesRead));
  await watcher.watch(control.filesRead);
  return watcher;
}

/**
 * A watcher that is replaced after an uncaught error, after which its state is unknown. No change of a file is missed.
 */
class ReplaceableWatcher implements Watcher {
  readonly #open: () => Watcher;
  readonly #owner = connectionOwner('file watcher', 'the configuration', () => this.#replace());
  #current: Watcher;
  /** The files that were last passed to `watch`, with their content as read. */
  #files: readonly (string | FileRead)[] = [];
  #isClosed = false;

  constructor(open: () => Watcher) {
    this.#open = open;
    this.#current = runOwned(this.#owner, open);
  }

  #replace(): void {
    if (this.#isClosed) return;
    const { status } = this.#current;
    void this.#current.close();
    this.#current = runOwned(this.#owner, this.#open);
    if (status.files > 0) void this.watch(this.#files);
  }

  watch(files: Iterable<string | FileRead>): Promise<void> {
    this.#files = [...files];
    return runOwned(this.#owner, () => this.#current.watch(this.#files));
  }

  write(path: string, hash: string, write: () => Promise<void>): Promise<void> {
    return this.#current.write(path, hash, write);
  }

  get status(): Watcher['status'] {
    return this.#current.status;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#current.close();
  }
}

/** A log that also emits its warnings and errors as events. */
function withEvents(log: Log, events: EventLog): WatchOptions['log'] {
  const report = (level: 'warning' | 'error') => (message: LogMessage) => {
    const text = typeof message === 'string' ? message : message();
    log[level](text);
    events.emit('watch.error', { message: text });
  };
  return {
    debug: (message) => log.debug(message),
    warning: report('warning'),
    error: report('error'),
  };
}
