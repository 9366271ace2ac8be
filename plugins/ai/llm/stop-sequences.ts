import type { DataObject } from '#contract';
import type { Delta, Progress } from './vendor.ts';

/** Cuts off a text at the first stop sequence that it contains. */
export function cutAtStop(text: string, stops: readonly string[]): string {
  const end = firstStop(text, stops);
  return end < 0 ? text : text.slice(0, end);
}

/** Position of the first stop sequence; -1 if the text contains none. */
function firstStop(text: string, stops: readonly string[]): number {
  let first = -1;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at >= 0 && (first < 0 || at < first)) first = at;
  }
  return first;
}

/**
 * Cuts off the candidates of a stream at stop sequences, for vendors that do not support them. Text at the end that
 * could be the start of a stop sequence is held back until the next message.
 *
 * @param read reads the messages of the stream.
 */
export function cuttingAtStops(
  read: (message: DataObject) => Progress,
  stops: readonly string[],
): (message: DataObject) => Progress {
  if (stops.length === 0) return read;
  const held = new Map<number, string>();
  const over = new Set<number>();
  const cut = (delta: Delta): Delta[] => {
    const { index, text, stop } = delta;
    if (over.has(index)) return [];
    if (delta.call) return [delta];
    const whole = (held.get(index) ?? '') + text;
    const end = firstStop(whole, stops);
    if (end >= 0) {
      over.add(index);
      return [{ index, text: whole.slice(0, end), stop: 'stop' }];
    }
    const kept = stop === undefined ? openLength(whole, stops) : 0;
    held.set(index, whole.slice(whole.length - kept));
    const shown = whole.slice(0, whole.length - kept);
    return shown === '' && stop === undefined ? [] : [{ index, text: shown, stop }];
  };
  return (message) => {
    const progress = read(message);
    return { ...progress, deltas: progress.deltas.flatMap(cut) };
  };
}

/** Length of the longest end of the text with which a stop sequence could begin. */
function openLength(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length -= 1) {
      if (text.endsWith(stop.slice(0, length))) longest = length;
    }
  }
  return longest;
}
