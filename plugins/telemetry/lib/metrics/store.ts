import type { InstrumentOptions, Meter, MeterAttributes } from '#contract';
import { Instrument, type InstrumentDescription } from './instrument.ts';
import type { Distribution, SeriesChange, Sum } from './series.ts';

/**
 * Maximum number of series of one instrument. A series of a histogram with 21 bounds takes about a kilobyte: no instrument takes
 * more than 2 MiB in a process.
 */
const MAX_SERIES = 2000;
/** Maximum number of instruments of one store; further ones are not counted. */
const MAX_INSTRUMENTS = 1000;

/** Default bucket bounds of histograms, in seconds. */
export const TIME_BOUNDS: readonly number[] = [
  0.01, 0.02, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.25, 0.3, 0.35, 0.5, 0.75, 1, 1.5, 2, 3.5, 5, 10,
];

/** Values that a worker has counted in one instrument since the last report. */
export interface InstrumentChange extends InstrumentDescription {
  readonly series: readonly (readonly [attributes: MeterAttributes, change: SeriesChange])[];
}

/** Aggregation of the values of one gauge across processes. */
export type Combination = 'sum' | 'max' | 'min';

const combine: Readonly<Record<Combination, (one: number, other: number) => number>> = {
  sum: (one, other) => one + other,
  max: Math.max,
  min: Math.min,
};

/** Reads the current value of a gauge. */
interface Observation {
  readonly instrument: Instrument<Sum>;
  readonly combination: Combination;
  readonly read: () => number;
}

/** Gauge values of another process. */
interface OtherGauges {
  readonly values: Readonly<Record<string, number>>;
  /** Time of the last report, in milliseconds of `performance.now()`. */
  readonly reportedAt: number;
}

/** Time without a report after which a process counts as gone, in milliseconds. */
const GONE_MS = 10_000;

/** Counts measurements in memory, as sums since the store was opened; several exporters may read it. */
export class MetricStore implements Meter {
  /** Time at which the store was opened, in milliseconds since 1970. */
  readonly startedAt = Date.now();
  readonly #instruments = new Map<string, Instrument>();
  readonly #observations: Observation[] = [];
  readonly #observers: (() => void)[] = [];
  readonly #closers: (() => void)[] = [];
  readonly #others = new Map<string, OtherGauges>();
  readonly #maxSeries: number;

  constructor(maxSeries = MAX_SERIES) {
    this.#maxSeries = maxSeries;
  }

  counter(name: string, options: InstrumentOptions): Instrument<Sum> {
    return this.#open({ ...options, name, kind: 'counter', bounds: [] });
  }

  upDownCounter(name: string, options: InstrumentOptions): Instrument<Sum> {
    return this.#open({ ...options, name, kind: 'upDownCounter', bounds: [] });
  }

  histogram(
    name: string,
    options: InstrumentOptions & { readonly bounds?: readonly number[] },
  ): Instrument<Distribution> {
    return this.#open({ bounds: TIME_BOUNDS, ...options, name, kind: 'histogram' });
  }

  /** Registers a value that is read on demand. */
  gauge(name: string, options: InstrumentOptions & { readonly combination?: Combination }, read: () => number): void {
    const { combination = 'sum', ...described } = options;
    const instrument = this.#open<Sum>({ ...described, name, kind: 'gauge', bounds: [] });
    this.#observations.push({ instrument, combination, read });
  }

  /** Registers a callback that runs before every read of the store, for values that are counted only then. */
  beforeRead(observe: () => void): void {
    this.#observers.push(observe);
  }

  /** Registers a callback that runs when the store is no longer used. */
  onClose(close: () => void): void {
    this.#closers.push(close);
  }

  close(): void {
    for (const close of this.#closers) close();
  }

  /** Returns every instrument that has values. */
  instruments(): Instrument[] {
    this.#observe();
    return [...this.#instruments.values()].filter((instrument) => !instrument.series()[Symbol.iterator]().next().done);
  }

  /** Returns the counts since the last call, and resets them. */
  take(): InstrumentChange[] {
    this.#observe();
    const changes: InstrumentChange[] = [];
    for (const instrument of this.#instruments.values()) {
      if (instrument.kind === 'gauge') continue;
      const series: [MeterAttributes, SeriesChange][] = [];
      for (const each of instrument.series()) {
        const change = each.take();
        if (change !== null) series.push([each.attributes, change]);
      }
      const { name, kind, description, unit, bounds } = instrument;
      if (series.length > 0) changes.push({ name, kind, description, unit, bounds, series });
    }
    return changes;
  }

  /** Current values of the gauges of this process. */
  gauges(): Record<string, number> {
    return Object.fromEntries(this.#observations.map(({ instrument, read }) => [instrument.name, read()]));
  }

  /** Adds the counts of another process. */
  merge(changes: readonly InstrumentChange[]): void {
    for (const { series, ...description } of changes) {
      const instrument = this.#open(description);
      // Counts of a histogram with other bucket bounds are ignored, because they cannot be added.
      if (instrument.bounds.length !== description.bounds.length) continue;
      for (const [attributes, change] of series) instrument.at(attributes).merge(change);
    }
  }

  /** Stores the gauges of another process. */
  mergeGauges(from: string, values: Readonly<Record<string, number>>): void {
    this.#others.delete(from);
    this.#others.set(from, { values, reportedAt: performance.now() });
  }

  #observe(): void {
    for (const observe of this.#observers) observe();
    const oldest = performance.now() - GONE_MS;
    for (const [from, { reportedAt }] of this.#others) if (reportedAt < oldest) this.#others.delete(from);
    for (const { instrument, combination, read } of this.#observations) {
      let value = read();
      for (const { values } of this.#others.values()) {
        const other = values[instrument.name];
        if (other !== undefined) value = combine[combination](value, other);
      }
      instrument.at().value = value;
    }
  }

  #open<S extends Sum | Distribution>(description: InstrumentDescription): Instrument<S> {
    const known = this.#instruments.get(description.name);
    if (known) return known as unknown as Instrument<S>;
    const instrument = new Instrument<S>(description, this.#maxSeries);
    if (this.#instruments.size < MAX_INSTRUMENTS) this.#instruments.set(description.name, instrument);
    return instrument;
  }
}
