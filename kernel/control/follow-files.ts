import type { Log, LogMessage } from '#contract';
import type { Watcher, WatchOptions } from '../runtime/watch/index.ts';
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
  // Loaded after the port is open, so that it does not delay startup.
  const { watchFiles } = await import('../runtime/watch/index.ts');
  const follow = async (changed: readonly string[]): Promise<void> => {
    /** If only a file that the configuration names has changed, the active configuration may differ from its file and the parts it is built from. */
    const source = () => {
      const isDocument = changed.some((path) => control.isOfDocument(path));
      return isDocument ? control.source : control.current.snapshot.source;
    };
    await generations.room(reloadSettings(generations.current.runtime).maxDraining);
    // A rejection is reported as an event and in the log; watching continues.
    await control.apply({ trigger: 'watch', source, saved: changed }).catch(() => {});
  };
  const watcher = watchFiles({ log: withEvents(log.at('[WATCH]'), events), onChange: follow });
  control.onSettled.push(() => void watcher.watch(control.filesRead));
  await watcher.watch(control.filesRead);
  return watcher;
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
