import type { InstrumentOptions, MeterAttributes } from '#contract';
import { Distribution, type Series, Sum } from './series.ts';

export type InstrumentKind = 'counter' | 'upDownCounter' | 'gauge' | 'histogram';

/** Description of an instrument, without its series. */
export interface InstrumentDescription extends InstrumentOptions {
  readonly name: string;
  readonly kind: InstrumentKind;
  /** Upper bounds of the buckets of a histogram, ascending. */
  readonly bounds: readonly number[];
}

/** Attributes of the series for all further combinations once an instrument has reached its series limit. */
const overflow: MeterAttributes = Object.freeze({ 'otel.metric.overflow': true });

const noAttributes: MeterAttributes = Object.freeze({});

/**
 * An instrument and its series. It has at most `maxSeries`; values beyond are counted in one additional series, whose
 * only attribute is `otel.metric.overflow`.
 */
export class Instrument<S extends Series = Series> implements InstrumentDescription {
  readonly name: string;
  readonly kind: InstrumentKind;
  readonly description: string;
  readonly unit: string;
  readonly bounds: readonly number[];
  readonly #series = new Map<string, S>();
  /** Series by attribute object: most callers reuse the same objects. */
  readonly #known = new WeakMap<MeterAttributes, S>();
  readonly #maxSeries: number;
  #overflow: S | null = null;

  constructor({ name, kind, description, unit = '', bounds }: InstrumentDescription, maxSeries: number) {
    this.name = name;
    this.kind = kind;
    this.description = description;
    this.unit = unit;
    this.bounds = bounds;
    this.#maxSeries = maxSeries;
  }

  get size(): number {
    return this.#series.size;
  }

  /** Iterates over the series that have values; for sums, over all series. */
  *series(): Iterable<S> {
    for (const series of this.#series.values()) if (!series.isEmpty) yield series;
    if (this.#overflow) yield this.#overflow;
  }

  /**
   * Returns the series with these attributes, which is created at first use. Beyond `maxSeries`, returns the additional
   * series.
   */
  at(attributes: MeterAttributes = noAttributes): S {
    const known = this.#known.get(attributes);
    if (known) return known;
    const found = this.#find(attributes);
    if (Object.isFrozen(attributes)) this.#known.set(attributes, found);
    return found;
  }

  add(value: number, attributes?: MeterAttributes): void {
    this.at(attributes).add(value);
  }

  record(value: number, attributes?: MeterAttributes): void {
    this.at(attributes).add(value);
  }

  #find(attributes: MeterAttributes): S {
    const key = keyOf(attributes);
    const known = this.#series.get(key);
    if (known) return known;
    if (this.#series.size >= this.#maxSeries || 'otel.metric.overflow' in attributes) {
      this.#overflow ??= this.#make(overflow);
      return this.#overflow;
    }
    const made = this.#make(Object.freeze({ ...attributes }));
    this.#series.set(key, made);
    return made;
  }

  #make(attributes: MeterAttributes): S {
    return (this.kind === 'histogram' ? new Distribution(attributes, this.bounds) : new Sum(attributes)) as Series as S;
  }
}

function keyOf(attributes: MeterAttributes): string {
  let key = '';
  for (const name of Object.keys(attributes).sort()) key += `${name}\0${attributes[name]}\0`;
  return key;
}
