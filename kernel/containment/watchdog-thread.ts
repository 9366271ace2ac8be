import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { secondStamp } from '../logging/timestamp.ts';
import { BEAT, HOOK, type HookLabel, STEP } from './marks.ts';
import { type MainFrame, pauseMain } from './pause-main.ts';
import { noteSource, placeInSource, textOf } from './source-columns.ts';
import {
  type Busy,
  describeHeld,
  type Held,
  type ThreadOptions,
  type WatchedPlugin,
  type WatchReport,
} from './watchdog.ts';

/** Watches the event loop from a separate thread, which keeps running when the loop is blocked. */

/**
 * Time between two checks of the event loop, in milliseconds. A check that is itself much too late is ignored, because
 * the process may not have been scheduled.
 */
const LOOK_MS = 10;
const LATE_LOOK_MS = 30;
/** Minimum duration of blocking that is attributed to a plugin, in milliseconds. */
const HELD_MS = 50;
/**
 * Minimum duration of blocking for which the code position is determined, in milliseconds. Determining it pauses the
 * loop for about another 50 ms.
 */
const LOCATE_MS = 100;
/** Minimum time between two determinations of a position while the blocking may still be short, in milliseconds. */
const LOCATE_PAUSE_MS = 10_000;
/**
 * Duration of blocking after which the position is determined even if another determination was recent, in
 * milliseconds, so that the log line about an endless loop includes it.
 */
const LOCATE_ENDLESS_MS = 500;
/**
 * Duration of blocking after which it is logged although the loop is still blocked, in milliseconds, because it may
 * never continue. The line is repeated at an interval.
 */
const ENDLESS_MS = 1000;
const REPEAT_MS = 10_000;
/** Interval of the reports of the time that hooks take, in milliseconds. */
const BUSY_MS = 1000;

const { marks, reports } = workerData as ThreadOptions;
const stamp = secondStamp(' ');
const plugins: WatchedPlugin[] = [];
const labels = new Map<number, HookLabel>();

let lookedAt = performance.now();
let locatedAt = Number.NEGATIVE_INFINITY;
/**
 * Values of the shared memory `marks` at the last check: the current hook, the counter of its steps, and the heartbeat
 * of the event loop.
 */
let seen = { hook: 0, step: 0, beat: 0 };
let heldMs = 0;
let reportedMs = 0;
let located: Located | null = null;
/** Time since the last report in which each hook was seen running, in milliseconds, by its number. */
const busyMs = new Map<number, number>();

/** Code position of the blocked loop. */
interface Located {
  /** Null while unknown, and when the position is not in a plugin. */
  plugin: WatchedPlugin | null;
  place: string | null;
}

interface Message {
  readonly plugin?: WatchedPlugin;
  readonly sources?: readonly (readonly [file: string, source: string])[];
  readonly label?: HookLabel;
  readonly number?: number;
}

parentPort!.on('message', (message: Message) => {
  for (const [file, source] of message.sources ?? []) noteSource(file, source);
  if (message.plugin) plugins.push(message.plugin);
  if (message.label) labels.set(message.number!, message.label);
});
setInterval(look, LOOK_MS);
setInterval(reportBusy, BUSY_MS);

function look(): void {
  const now = performance.now();
  const passed = now - lookedAt;
  lookedAt = now;
  const next = { hook: Atomics.load(marks, HOOK), step: Atomics.load(marks, STEP), beat: Atomics.load(marks, BEAT) };
  // The time since the last check counts for the hook that runs now; time in which this thread was late does not.
  if (next.hook !== 0) busyMs.set(next.hook, (busyMs.get(next.hook) ?? 0) + Math.min(passed, LATE_LOOK_MS));
  if (next.step !== seen.step || next.beat !== seen.beat) {
    const label = labels.get(seen.hook);
    if (heldMs >= HELD_MS && (label || located?.plugin)) post({ held: heldBy(label) });
    seen = next;
    heldMs = 0;
    reportedMs = 0;
    located = null;
    return;
  }
  if (passed > LATE_LOOK_MS) return;
  heldMs += passed;
  const isDue = now - locatedAt > LOCATE_PAUSE_MS || heldMs >= LOCATE_ENDLESS_MS;
  if (heldMs >= LOCATE_MS && !located && isDue) locate(now);
  if (heldMs >= ENDLESS_MS && (reportedMs === 0 || heldMs - reportedMs >= REPEAT_MS)) report();
}

function post(message: WatchReport): void {
  parentPort!.postMessage(message);
}

function reportBusy(): void {
  if (busyMs.size === 0) return;
  const busy = [...busyMs].flatMap(([number, ms]): Busy[] => {
    const label = labels.get(number);
    return label ? [{ plugin: label.plugin, hash: label.hash, hook: label.hook, ms }] : [];
  });
  busyMs.clear();
  post({ busy });
}

function heldBy(label: HookLabel | undefined): Held {
  const plugin = located?.plugin;
  const isOwn = plugin === undefined || plugin === null || plugin.plugin === label?.plugin;
  const { plugin: name, hash } = plugin ?? label!;
  return {
    plugin: name,
    hash,
    hook: isOwn ? (label?.hook ?? null) : null,
    endpoint: isOwn ? (label?.endpoint ?? null) : null,
    place: located?.place ?? null,
    ms: Math.round(heldMs),
  };
}

/**
 * Writes the log from this thread and reports to the parent process, because the event loop of the main thread may
 * never continue.
 */
function report(): void {
  const label = labels.get(seen.hook);
  if (!label && !located?.plugin) return;
  reportedMs = heldMs;
  const held = heldBy(label);
  write(2, `${stamp(Date.now())} GATEWAY ERROR: ${describeHeld(held)}\n`);
  if (reports !== null) write(reports, `${JSON.stringify(held)}\n`);
}

function write(descriptor: number, text: string): void {
  try {
    writeSync(descriptor, text);
  } catch {
    // Ignored: the descriptor has no reader.
  }
}

/** Pauses the main thread for a moment to determine its position, unless it is inspecting a thread itself. */
function locate(now: number): void {
  const result: Located = { plugin: null, place: null };
  const isPausing = pauseMain(marks, (frames) => {
    if (located === result) place(frames, result);
  });
  if (!isPausing) return;
  locatedAt = now;
  located = result;
}

/** Finds the innermost position in a plugin's code; none if the plugin only waits for a step inside its hook. */
function place(frames: readonly MainFrame[], result: Located): void {
  for (const { functionName, file, line, column } of frames) {
    if (functionName === 'leaveHook') return;
    const plugin = plugins.findLast(({ files }) => file !== null && files.includes(file));
    if (file === null || !plugin) continue;
    result.plugin = plugin;
    result.place = textOf(placeInSource({ file, line, column }));
    return;
  }
}
