import { definePort, type Port } from '#contract';
import { Sample } from './sample.ts';

/** Put before every name: that of the compatible product. */
export const PREFIX = 'krakend.';

/** Histograms of one gateway: 32 MB at most. What comes beyond is counted and not measured. */
const MAX_SAMPLES = 4000;
/** Counters of one gateway. */
const MAX_COUNTERS = 50_000;

/** What goes from a worker to the process that shows it. */
export interface StatsChange {
  readonly counters: readonly (readonly [name: string, count: number])[];
  readonly samples: readonly (readonly [name: string, values: readonly number[], count: number])[];
}

/** A counter, by its name. */
export interface Counter {
  value: number;
}

/** Everything at one moment, by its name without a prefix. */
export interface Snapshot {
  readonly time: Date;
  readonly counters: readonly (readonly [name: string, count: number])[];
  /** Values of the process at the end of the last window; empty before. */
  readonly gauges: Readonly<Record<string, number>>;
  /** What histograms have kept since the snapshot before, none of them empty. */
  readonly samples: readonly (readonly [name: string, values: readonly number[]])[];
}

/** Takes a snapshot, in the process that owns the gateway: what all processes have counted. */
export const snapshots: Port<() => Snapshot> = definePort('snapshots of telemetry/metrics');

/** Two counters of the current window, whose finished windows are summed up. */
const windowed = ['router.connected', 'router.disconnected'] as const;

/** Counters and histograms by their names, in memory. */
export class Stats {
  readonly #counters = new Map<string, Counter>();
  readonly #samples = new Map<string, Sample>();
  /** Taken at the end of every window. */
  #gauges: Readonly<Record<string, number>> = {};

  constructor() {
    for (const name of windowed) for (const end of ['', '-total', '-gauge']) this.counter(name + end);
  }

  /** The counter of a name, which begins at 0. */
  counter(name: string): Counter {
    const known = this.#counters.get(name);
    if (known) return known;
    const counter = { value: 0 };
    if (this.#counters.size < MAX_COUNTERS) this.#counters.set(name, counter);
    return counter;
  }

  /** The histogram of a name. */
  sample(name: string): Sample {
    const known = this.#samples.get(name);
    if (known) return known;
    const sample = new Sample();
    if (this.#samples.size < MAX_SAMPLES) this.#samples.set(name, sample);
    return sample;
  }

  /** A window is over. @param gauges values of the process at this moment. */
  endWindow(gauges: Readonly<Record<string, number>>): void {
    for (const name of windowed) {
      const current = this.counter(name);
      this.counter(`${name}-gauge`).value = current.value;
      this.counter(`${name}-total`).value += current.value;
      current.value = 0;
    }
    this.#gauges = gauges;
  }

  /** Forgets what is not wanted any more. */
  retain(isWanted: (name: string) => boolean): void {
    for (const name of this.#counters.keys()) if (!isWanted(name)) this.#counters.delete(name);
    for (const name of this.#samples.keys()) if (!isWanted(name)) this.#samples.delete(name);
  }

  /** Every name without its prefix; a histogram as it is. */
  *entries(): Iterable<readonly [name: string, value: number | Sample]> {
    for (const [name, { value }] of this.#counters) yield [name, value];
    yield* Object.entries(this.#gauges);
    yield* this.#samples;
  }

  /** Histograms then begin anew; counters go on. @param isShown what belongs to it. */
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
