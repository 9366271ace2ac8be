import type { Data } from '#contract';
import { JmespathError } from './jmespath-error.ts';
import type { Evaluate } from './run.ts';

/** Bounds of `[start:stop:step]` as written. */
interface Bounds {
  readonly start: number | null;
  readonly stop: number | null;
  readonly step: number | null;
}

/** Returns every `step`th item of an array; null for anything else. @throws JmespathError for a step of zero. */
export function sliced({ start, stop, step }: Bounds): Evaluate {
  const stride = step ?? 1;
  if (stride === 0) throw new JmespathError('the step of a slice cannot be 0');
  const isBackwards = stride < 0;
  return (value, run) => {
    if (!Array.isArray(value)) return null;
    const { length } = value;
    const first = isBackwards ? length - 1 : 0;
    const from = start === null ? first : placeIn(length, start, isBackwards);
    const to = stop === null ? (isBackwards ? -1 : length) : placeIn(length, stop, isBackwards);
    run.spend(Math.max(0, (to - from) / stride));
    const items: Data[] = [];
    for (let at = from; isBackwards ? at > to : at < to; at += stride) items.push(value[at]!);
    return items;
  };
}

/** Resolves a bound, which counts from the end if negative, and clamps it to the array. */
function placeIn(length: number, bound: number, isBackwards: boolean): number {
  const at = bound < 0 ? bound + length : bound;
  if (at < 0) return isBackwards ? -1 : 0;
  return Math.min(at, isBackwards ? length - 1 : length);
}
