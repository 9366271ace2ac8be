import { definePort, type Port } from './port.ts';
import type { Site } from './site.ts';

/** What a measurement is told apart by. Few values each: every combination is a series of its own. */
export type MeterAttributes = Readonly<Record<string, string | number | boolean>>;

/** What is said of an instrument besides its name. */
export interface InstrumentOptions {
  readonly description: string;
  /** As in `s` or `By`. Default: a plain number. */
  readonly unit?: string;
}

/** Counts what only grows. */
export interface Counter {
  add(value: number, attributes?: MeterAttributes): void;
}

/** Counts what comes and goes. */
export interface UpDownCounter {
  /** @param value below 0 for what has gone. */
  add(value: number, attributes?: MeterAttributes): void;
}

/** Sorts values into ranges. */
export interface Histogram {
  record(value: number, attributes?: MeterAttributes): void;
}

/** Makes instruments; one of the same name is the same one, over reloads too. Nothing of it waits or throws. */
export interface Meter {
  counter(name: string, options: InstrumentOptions): Counter;
  upDownCounter(name: string, options: InstrumentOptions): UpDownCounter;
  /** @param options.bounds upper ends of the ranges, ascending. Default: the exporter's own. */
  histogram(name: string, options: InstrumentOptions & { readonly bounds?: readonly number[] }): Histogram;
}

/** Where measurements go: whoever exports them offers a meter, at the service as a rule. */
export const meters: Port<Meter> = definePort('meters');

/**
 * The meter of a place, whose plugin names `meters` in `takes`. Null where nobody exports anything: hand over no wrap then,
 * and measuring costs nothing.
 */
export function meterOf(site: Pick<Site<unknown>, 'takeAll'>): Meter | null {
  const all = site.takeAll(meters);
  return all.length > 1 ? together(all) : (all[0] ?? null);
}

/** Several meters as one. */
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
