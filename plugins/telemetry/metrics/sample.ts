/** Number of values that a histogram keeps (8 KB). */
const SIZE = 1028;

/** A histogram that keeps a random sample of its values; each value has the same probability to be kept. */
export class Sample {
  /** Number of values so far. */
  count = 0;
  #values: number[] = [];

  add(value: number): void {
    this.count += 1;
    if (this.#values.length < SIZE) {
      this.#values.push(value);
      return;
    }
    const at = Math.floor(Math.random() * this.count);
    if (at < SIZE) this.#values[at] = value;
  }

  get values(): readonly number[] {
    return this.#values;
  }

  /** Merges the sample of another process. */
  merge(values: readonly number[], count: number): void {
    for (const value of values) this.add(value);
    this.count += count - values.length;
  }

  /** Returns the sample so far and resets it. */
  take(): { readonly count: number; readonly values: readonly number[] } {
    const taken = { count: this.count, values: this.#values };
    this.count = 0;
    this.#values = [];
    return taken;
  }
}

const percentiles: readonly (readonly [string, number])[] = [
  ['50', 0.5],
  ['75', 0.75],
  ['95', 0.95],
  ['99', 0.99],
  ['999', 0.999],
];

/** Distribution of the values of a histogram. */
export interface Distribution {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly variance: number;
  /** @param share fraction of the values that are smaller, as in 0.95. */
  percentile(share: number): number;
}

export function distributionOf(values: readonly number[]): Distribution {
  const sorted = values.toSorted((one, other) => one - other);
  const mean = sorted.reduce((sum, value) => sum + value, 0) / (sorted.length || 1);
  return {
    min: sorted[0] ?? 0,
    max: sorted.at(-1) ?? 0,
    mean,
    variance: sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (sorted.length || 1),
    percentile: (share) => percentile(sorted, share),
  };
}

/** Returns the summary of a histogram, by key suffix. */
export function summaryOf({ values, count }: Pick<Sample, 'values' | 'count'>): Record<string, number> {
  const { min, max, mean, variance, percentile } = distributionOf(values);
  return {
    count,
    min,
    max,
    mean,
    'std-dev': Math.sqrt(variance),
    ...Object.fromEntries(percentiles.map(([name, share]) => [`${name}-percentile`, percentile(share)])),
  };
}

/** Interpolates linearly between two values of the sample. */
function percentile(sorted: readonly number[], share: number): number {
  const position = share * (sorted.length + 1);
  const below = sorted[Math.floor(position) - 1] ?? sorted[0] ?? 0;
  const above = sorted[Math.floor(position)] ?? sorted.at(-1) ?? 0;
  return below + (position - Math.floor(position)) * (above - below);
}
