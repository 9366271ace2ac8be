import { definePort, type Port } from '#contract';
import { Sample } from './sample.ts';

/** Prefix of the names of all metrics, the same as in KrakenD. */
export const PREFIX = 'krakend.';

/** Maximum number of histograms per gateway (32 MB). Beyond it, events are counted but not measured. */
const MAX_SAMPLES = 4000;
/** Maximum number of counters per gateway. */
const MAX_COUNTERS = 50_000;

/** Changes that a worker sends to the process that serves the page. */
export interface StatsChange {
  readonly counters: readonly (readonly [name: string, count: number])[];
  readonly samples: readonly (readonly [name: string, values: readonly number[], count: number])[];
}

/** A named counter. */
export interface Counter {
  value: number;
}

/** All metrics at one moment, by name without the prefix. */
export interface Snapshot {
  readonly time: Date;
  readonly counters: readonly (readonly [name: string, count: number])[];
  /** Process values at the end of the last window; empty before the first. */
  readonly gauges: Readonly<Record<string, number>>;
  /** Values retained since the previous snapshot, for non-empty histograms only. */
  readonly samples: readonly (readonly [name: string, values: readonly number[]])[];
}

/** Takes a snapshot of the counts of all processes. Available in the process that owns the gateway. */
export const snapshots: Port<() => Snapshot> = definePort('snapshots of telemetry/metrics');

/** Counters that are reported for the current window. The counts of finished windows are added up. */
const windowed = ['router.connected', 'router.disconnected'] as const;

/** In-memory counters and histograms, by name. */
export class Stats {
  readonly #counters = new Map<string, Counter>();
  readonly #samples = new Map<string, Sample>();
  /** Process values, read at the end of every window. */
  #gauges: Readonly<Record<string, number>> = {};

  constructor() {
    for (const name of windowed) for (const end of ['', '-total', '-gauge']) this.counter(name + end);
  }

  /** Returns the counter of that name; new counters start at 0. */
  counter(name: string): Counter {
    const known = this.#counters.get(name);
    if (known) return known;
    const counter = { value: 0 };
    if (this.#counters.size < MAX_COUNTERS) this.#counters.set(name, counter);
    return counter;
  }

  /** Returns the histogram of that name. */
  sample(name: string): Sample {
    const known = this.#samples.get(name);
    if (known) return known;
    const sample = new Sample();
    if (this.#samples.size < MAX_SAMPLES) this.#samples.set(name, sample);
    return sample;
  }

  /** Ends the current window. @param gauges current values of the process. */
  endWindow(gauges: Readonly<Record<string, number>>): void {
    for (const name of windowed) {
      const current = this.counter(name);
      this.counter(`${name}-gauge`).value = current.value;
      this.counter(`${name}-total`).value += current.value;
      current.value = 0;
    }
    this.#gauges = gauges;
  }

  /** Forgets the names that are no longer wanted. */
  retain(isWanted: (name: string) => boolean): void {
    for (const name of this.#counters.keys()) if (!isWanted(name)) this.#counters.delete(name);
    for (const name of this.#samples.keys()) if (!isWanted(name)) this.#samples.delete(name);
  }

  /** Iterates over all names without the prefix; histograms are not summarized. */
  *entries(): Iterable<readonly [name: string, value: number | Sample]> {
    for (const [name, { value }] of this.#counters) yield [name, value];
    yield* Object.entries(this.#gauges);
    yield* this.#samples;
  }

  /** Takes a snapshot and resets histograms, but not counters. @param isShown selects the names to include. */
  snapshot(isShown: (name: string) => boolean): Snapshot {
    const counters: [string, number][] = [];
    for (const [name, { value }] of this.#counters) if (isShown(name)) counters.push([name, value]);
    const samples: [string, readonly number[]][] = [];
    for (const [name, sample] of this.#samples) {
      if (sample.count > 0 && isShown(name)) samples.push([name, sample.take().values]);
    }
    return { time: new Date(), counters, gauges: this.#gauges, samples };
  }

  take(): StatsChange {
    const counters: [string, number][] = [];
    for (const [name, counter] of this.#counters) {
      if (counter.value === 0) continue;
      counters.push([name, counter.value]);
      counter.value = 0;
    }
    const samples: [string, readonly number[], number][] = [];
    for (const [name, sample] of this.#samples) {
      if (sample.count === 0) continue;
      const { values, count } = sample.take();
      samples.push([name, values, count]);
    }
    return { counters, samples };
  }

  merge({ counters, samples }: StatsChange): void {
    for (const [name, count] of counters) this.counter(name).value += count;
    for (const [name, values, count] of samples) this.sample(name).merge(values, count);
  }
}
