import type { MeterAttributes } from '#contract';

/** Change of a series in a worker since its last report: one number, or the sum and the bucket counts of a histogram. */
export type SeriesChange = number | readonly number[];

/** One combination of attributes of an instrument. */
export interface Series {
  readonly attributes: MeterAttributes;
  /** Whether the series was created without any value. */
  readonly isEmpty: boolean;
  /** Counts a value. Values that are not finite are ignored. */
  add(value: number): void;
  /** Returns the counts since the last call, and resets them; null if nothing was counted. */
  take(): SeriesChange | null;
  /** Adds the counts of another process. */
  merge(change: SeriesChange): void;
}

/** A sum; monotonic for a counter. */
export class Sum implements Series {
  value = 0;
  readonly isEmpty = false;
  readonly attributes: MeterAttributes;

  constructor(attributes: MeterAttributes) {
    this.attributes = attributes;
  }

  add(value: number): void {
    if (Number.isFinite(value)) this.value += value;
  }

  take(): number | null {
    const { value } = this;
    this.value = 0;
    return value === 0 ? null : value;
  }

  merge(change: SeriesChange): void {
    this.add(change as number);
  }
}

/** Values counted in buckets. */
export class Distribution implements Series {
  sum = 0;
  /** Number of values per bucket: up to each bound, and beyond the last. */
  readonly counts: Float64Array;
  readonly attributes: MeterAttributes;
  readonly #bounds: readonly number[];

  /** @param bounds upper bounds of the buckets, ascending. */
  constructor(attributes: MeterAttributes, bounds: readonly number[]) {
    this.attributes = attributes;
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  get isEmpty(): boolean {
    return this.counts.every((count) => count === 0);
  }

  get count(): number {
    let count = 0;
    for (const each of this.counts) count += each;
    return count;
  }

  add(value: number): void {
    if (!Number.isFinite(value)) return;
    const bounds = this.#bounds;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (value <= bounds[middle]!) high = middle;
      else low = middle + 1;
    }
    this.counts[low]! += 1;
    this.sum += value;
  }

  take(): readonly number[] | null {
    if (this.count === 0) return null;
    const change = [this.sum, ...this.counts];
    this.sum = 0;
    this.counts.fill(0);
    return change;
  }

  merge(change: SeriesChange): void {
    const [sum, ...counts] = change as readonly number[];
    this.sum += sum!;
    for (let at = 0; at < counts.length; at++) this.counts[at]! += counts[at]!;
  }
}
