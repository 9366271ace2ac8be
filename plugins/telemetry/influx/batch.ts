import { setImmediate as turn } from 'node:timers/promises';
import { distributionOf } from '../metrics/sample.ts';
import type { Snapshot } from '../metrics/stats.ts';
import { type Fields, lineOf, type Series } from './line.ts';

/** Number of histograms summarized before yielding to the event loop: about one millisecond of work. */
const HISTOGRAMS_A_TURN = 10;

/** Series of counters and histograms, by name pattern; the groups of the pattern are the tags. */
const forms: readonly (readonly [measurement: string, name: RegExp])[] = [
  [
    'requests',
    /^proxy\.(?:requests|latency)\.layer\.(?<layer>pipe|backend)\.name\.(?<name>.*)\.complete\.(?<complete>true|false)\.error\.(?<error>true|false)$/s,
  ],
  ['responses', /^router\.response\.(?<name>.*)\.status\.(?<status>\d+)\.count$/s],
  ['router.response-size', /^router\.response\.(?<name>.*)\.size$/s],
  ['router.response-time', /^router\.response\.(?<name>.*)\.time$/s],
  ['service.debug.GCStats.Pause', /^service\.debug\.GCStats\.Pause$/],
  ['service.runtime.MemStats.PauseNs', /^service\.runtime\.MemStats\.PauseNs$/],
];

const shares = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/** Converts snapshots to batches of lines. */
export class BatchWriter {
  readonly #host: string;
  /** Counters of the previous batch. */
  #before: ReadonlyMap<string, number> = new Map();

  /** @param host tag added to every point. */
  constructor(host: string) {
    this.#host = host;
  }

  /** Writes a snapshot as lines. Returns an empty text if nothing was counted. */
  async print({ time, counters, gauges, samples }: Snapshot): Promise<string> {
    if (counters.length === 0 && Object.keys(gauges).length === 0) return '';
    const points = new Map<string, { readonly series: Series; readonly fields: Fields }>();
    const add = (series: Series, fields: Fields): void => {
      const key = JSON.stringify(series);
      const point = points.get(key);
      if (point) Object.assign(point.fields, fields);
      else points.set(key, { series, fields });
    };
    const now = new Map(counters);
    for (const [name, total] of now) {
      const series = this.#seriesOf(name);
      if (series) add(series, { total: { whole: total }, count: { whole: this.#grown(name, total) } });
    }
    this.#before = now;
    for (const [direction, name] of [
      ['in', 'router.connected'],
      ['out', 'router.disconnected'],
    ] as const) {
      const ends = { current: '', total: '-total', gauge: '-gauge' };
      const fields = Object.entries(ends).map(([field, end]) => [field, { whole: now.get(name + end) ?? 0 }]);
      add({ measurement: 'router', tags: { host: this.#host, direction } }, Object.fromEntries(fields));
    }
    for (const measurement of ['debug', 'runtime']) {
      add({ measurement, tags: { host: this.#host } }, below(`service.${measurement}.`, gauges));
    }
    for (const [at, [name, values]] of samples.entries()) {
      const series = this.#seriesOf(name);
      if (series) add(series, histogramFields(values));
      if ((at + 1) % HISTOGRAMS_A_TURN === 0) await turn();
    }
    const seconds = Math.floor(time.getTime() / 1000);
    return [...points.values()].map(({ series, fields }) => lineOf(series, fields, seconds)).join('');
  }

  #seriesOf(name: string): Series | undefined {
    for (const [measurement, form] of forms) {
      const match = form.exec(name);
      if (match) return { measurement, tags: { host: this.#host, ...match.groups } };
    }
    return undefined;
  }

  /** A counter that is less than before was forgotten in the meantime and counts from 0. */
  #grown(name: string, total: number): number {
    const before = this.#before.get(name) ?? 0;
    return total < before ? total : total - before;
  }
}

/** Writes only integers, because a field keeps the type of its first value. */
function below(prefix: string, gauges: Readonly<Record<string, number>>): Fields {
  const own = Object.entries(gauges).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length), { whole: value }]));
}

function histogramFields(values: readonly number[]): Fields {
  const { min, max, mean, variance, percentile } = distributionOf(values);
  return {
    max: { whole: max },
    min: { whole: min },
    mean: { real: mean },
    stddev: { real: Math.sqrt(variance) },
    variance: { real: variance },
    ...Object.fromEntries(shares.map((share) => [`p${share}`, { real: percentile(share) }])),
  };
}
