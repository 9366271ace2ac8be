import { definePort, type Port } from './port.ts';
import type { Site } from './site.ts';

/** Attributes of a measurement. Use few values each: every combination is a separate time series. */
export type MeterAttributes = Readonly<Record<string, string | number | boolean>>;

/** Properties of a metric instrument, except for its name. */
export interface InstrumentOptions {
  readonly description: string;
  /** Unit, for example `s` or `By`. Default: a plain number. */
  readonly unit?: string;
}

/** A counter that only increases. */
export interface Counter {
  add(value: number, attributes?: MeterAttributes): void;
}

/** A counter that increases and decreases. */
export interface UpDownCounter {
  /** @param value negative to decrease. */
  add(value: number, attributes?: MeterAttributes): void;
}

/** Distributes values into buckets. */
export interface Histogram {
  record(value: number, attributes?: MeterAttributes): void;
}

/**
 * Creates instruments. The same name returns the same instrument, also across reloads. All methods are synchronous and
 * never throw.
 */
export interface Meter {
  counter(name: string, options: InstrumentOptions): Counter;
  upDownCounter(name: string, options: InstrumentOptions): UpDownCounter;
  /** @param options.bounds upper bucket boundaries, ascending. Default: the exporter's. */
  histogram(name: string, options: InstrumentOptions & { readonly bounds?: readonly number[] }): Histogram;
}

/** Lets exporters of metrics provide their meters to other plugins, usually for the whole service. */
export const meters: Port<Meter> = definePort('meters');

/**
 * Returns the meter for a plugin's place in the configuration; the plugin must list `meters` in `takes`. Null without
 * an exporter: the plugin should then return no wrap, so that measuring costs nothing.
 */
export function meterOf(site: Pick<Site<unknown>, 'takeAll'>): Meter | null {
  const all = site.takeAll(meters);
  return all.length > 1 ? together(all) : (all[0] ?? null);
}

/** Combines several meters into one. */
function together(all: readonly Meter[]): Meter {
  const adding = (each: readonly Counter[]): Counter => ({
    add(value, attributes) {
      for (const one of each) one.add(value, attributes);
    },
  });
  return {
    counter: (name, options) => adding(all.map((meter) => meter.counter(name, options))),
    upDownCounter: (name, options) => adding(all.map((meter) => meter.upDownCounter(name, options))),
    histogram(name, options) {
      const each = all.map((meter) => meter.histogram(name, options));
      return {
        record(value, attributes) {
          for (const one of each) one.record(value, attributes);
        },
      };
    },
  };
}
