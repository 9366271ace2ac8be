import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { type MainFrame, pauseMain } from '../../containment/pause-main.ts';
import { secondStamp } from '../../logging/timestamp.ts';
import type { Evaluation, WatchData } from './load-watch.ts';

/** Watches the evaluation of plugin files from a separate thread, which keeps running when the main thread is blocked. */

const { marks, length, bytes, locateMs, reportMs } = workerData as WatchData;
const stamp = secondStamp(' ');
let locating: NodeJS.Timeout | undefined;
let reporting: NodeJS.Timeout | undefined;

parentPort!.on('message', (evaluation: Evaluation | null) => {
  clearTimeout(locating);
  clearTimeout(reporting);
  if (evaluation === null) return;
  locating = setTimeout(locate, locateMs);
  reporting = setTimeout(report, reportMs, evaluation.file);
});

function locate(): void {
  pauseMain(marks, (frames) => {
    const place = innermostSource(frames);
    if (!place) return;
    const { written } = new TextEncoder().encodeInto(JSON.stringify(place), bytes);
    Atomics.store(length, 0, written);
  });
}

/** The innermost call in a file of the plugin: not in Node.js or a package, and above the call that evaluates it. */
function innermostSource(frames: readonly MainFrame[]): object | undefined {
  const end = frames.findIndex(({ url }) => url === 'bounded');
  const inner = end < 0 ? [] : frames.slice(0, end);
  const frame = inner.find(({ file }) => file !== null && !/[\\/]node_modules[\\/]/.test(file));
  return frame && { file: frame.file, line: frame.line, column: frame.column };
}

/** Writes the fault from this thread: the main thread is blocked in a system call, which may never return. */
function report(file: string): void {
  const text = `${file}: the plugin did not finish loading after ${Math.round(reportMs / 1000)} s: it waits in a system call that cannot be interrupted, such as execSync or readSync. Use the asynchronous function in site.warm instead.`;
  try {
    writeSync(2, `${stamp(Date.now())} GATEWAY ERROR: ${text}\n`);
  } catch {
    // Ignored: standard error has no reader.
  }
}
