/**
 * Shared memory that the watchdog thread reads. Writing to it is all that monitoring costs a request: a few nanoseconds
 * per hook.
 */
export const marks = new Int32Array(new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT));

/** Index in `marks` of the number of the running hook; the number 0 means that no hook runs. */
export const HOOK = 0;
/** Index of a counter that changes whenever a hook starts, calls its wrapped step, or ends. */
export const STEP = 1;
/** Index of a counter that grows as long as the event loop turns. */
export const BEAT = 2;

/**
 * Index of the debugger lock of the main thread: 0 when free, a positive number of inspections that it runs itself, or
 * the negated id of the thread that has paused it.
 */
export const DEBUGGER = 3;

/** Shows the watchdog that a hook is running. @returns the hook that ran before, for `endHook`. */
export function beginHook(number: number): number {
  const outer = marks[HOOK]!;
  marks[HOOK] = number;
  marks[STEP]! += 1;
  return outer;
}

export function endHook(outer: number): void {
  marks[HOOK] = outer;
  marks[STEP]! += 1;
}

/** Name of a hook in the log. */
export interface HookLabel {
  readonly plugin: string;
  readonly hash: string;
  readonly hook: string;
  readonly endpoint: string;
}

/** Labels by number. Equal labels share a number, so reloads do not use numbers up. */
const labels: HookLabel[] = [];
const numbers = new Map<string, number>();

let listener: ((label: HookLabel, number: number) => void) | null = null;

/** Reports every existing and future label to a listener; null removes the listener. */
export function onLabel(listens: typeof listener): void {
  listener = listens;
  for (const [at, label] of labels.entries()) listener?.(label, at + 1);
}

/** Maximum number of distinct hooks; further ones share the number 0 and are not monitored. */
const MOST_LABELS = 100_000;

/** Number of a hook, at least 1. */
export function numberOf(label: HookLabel): number {
  const key = JSON.stringify([label.plugin, label.hash, label.hook, label.endpoint]);
  const known = numbers.get(key);
  if (known !== undefined) return known;
  if (labels.length >= MOST_LABELS) return 0;
  const number = labels.push(label);
  numbers.set(key, number);
  listener?.(label, number);
  return number;
}
