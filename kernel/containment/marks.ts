/**
 * What the thread that watches the event loop reads of it. To write here is all that watching costs a request: a few
 * nanoseconds for a hook.
 */
export const marks = new Int32Array(new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT));

/** Where in `marks`: the hook that runs, 0 for none. */
export const HOOK = 0;
/** Changes whenever a hook begins, is left for what it wraps, or ends. */
export const STEP = 1;
/** Grows for as long as the event loop turns. */
export const BEAT = 2;

/** Who debugs the main thread: 0 nobody, above 0 so many of its own searches, below 0 the thread of that number negated. */
export const DEBUGGER = 3;

/** The hook of a number runs from now on. @returns what ran until then, for `endHook`. */
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

/** What a hook is called in the log. */
export interface HookLabel {
  readonly plugin: string;
  readonly hash: string;
  readonly hook: string;
  readonly endpoint: string;
}

/** Labels by their numbers, which reloads do not use up: equal labels have one number. */
const labels: HookLabel[] = [];
const numbers = new Map<string, number>();

let listener: ((label: HookLabel, number: number) => void) | null = null;

/** Tells every label there is, and every one to come; null for nobody. */
export function onLabel(listens: typeof listener): void {
  listener = listens;
  for (const [at, label] of labels.entries()) listener?.(label, at + 1);
}

/** Hooks that are told apart; those beyond share the number 0 and are not watched. */
const MOST_LABELS = 100_000;

/** The number of a hook, above 0. */
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
