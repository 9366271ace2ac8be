import { writeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { stackOf } from '../../containment/source-place.ts';
import { disownStrayErrors, type Owner, ownStrayErrors } from '../../containment/stray-errors.ts';
import type { LoadWatch } from './load-watch.ts';
import type { ModuleGraph } from './module-graph.ts';
import { placeOf, unfinished } from './source-error.ts';

/**
 * Evaluates a plugin's file in this thread. An error that occurs later, in a timer or a promise, belongs to the
 * evaluation until the next turn of the event loop, and a call of `process.exit` is reported with its line.
 * @param watch watches the evaluation from another thread; null if a thread has already evaluated the same content.
 * @throws any error in or of its source; PositionedError when it does not finish.
 */
export async function evaluateGuarded(
  graph: ModuleGraph,
  file: string,
  ms: number,
  watch: LoadWatch | null,
): Promise<Readonly<Record<string, unknown>>> {
  const { promise: stray, reject } = Promise.withResolvers<never>();
  stray.catch(() => {});
  const owner: Owner = {
    takes(error, files) {
      const isOwn = files.some((path) => graph.files.includes(path));
      if (isOwn) reject(error);
      return isOwn;
    },
  };
  const onExit = () => reportExit(new Error('exit'), graph.files);
  ownStrayErrors(owner);
  process.on('exit', onExit);
  watch?.begin(file);
  try {
    const exports = await Promise.race([graph.evaluate(ms), stray]);
    await Promise.race([nextTurn(), stray]);
    watch?.end();
    return exports;
  } catch (error) {
    throw unfinished(error, file, { running: watch?.end(), awaits: () => graph.awaits() }) ?? error;
  } finally {
    process.off('exit', onExit);
    disownStrayErrors(owner);
  }
}

/** Reports that a plugin's file has called `process.exit`; otherwise the process would end without a reason. */
function reportExit(error: Error, files: readonly string[]): void {
  stackOf(error);
  const place = placeOf(error, files);
  if (!place) return;
  process.exitCode = 1;
  const text = `${place.file}:${place.line}:${place.column}: error: the plugin ended the process while it was loading [PLUGIN_LOAD]; hint: throw an error instead of calling process.exit`;
  try {
    writeSync(2, `${text}\n`);
  } catch {
    // Ignored: standard error has no reader.
  }
}
