import type { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import type { Instrument } from '../metrics/instrument.ts';
import { Distribution, type Series, type Sum } from '../metrics/series.ts';
import type { MetricStore } from '../metrics/store.ts';
import { highResolution, type Resource, type Scope, sdkResource } from './resource.ts';

type SdkMetrics = Parameters<typeof ProtobufMetricsSerializer.serializeRequest>[0];

/** Maximum number of series in one request: a request is built in one go, which blocks everything else. */
const MAX_SERIES = 250;
/** Enum values of the official packages. */
const HISTOGRAM = 0;
const GAUGE = 2;
const SUM = 3;
const CUMULATIVE = 1;
const DOUBLE = 1;

/** Converts a store to the input of the official serializer, in pieces of bounded size. Sums are cumulative. */
export function* sdkMetrics(store: MetricStore, resource: Resource, scope: Scope): Iterable<SdkMetrics> {
  const endTime = highResolution(Date.now());
  let metrics: object[] = [];
  let series = 0;
  const request = (): SdkMetrics => {
    const made = { resource: sdkResource(resource), scopeMetrics: [{ scope, metrics }] };
    metrics = [];
    series = 0;
    return made as unknown as SdkMetrics;
  };
  const startTime = highResolution(store.startedAt);
  for (const instrument of store.instruments()) {
    const all = [...instrument.series()];
    for (let from = 0; from < all.length; from += MAX_SERIES) {
      const some = all.slice(from, from + MAX_SERIES);
      if (series > 0 && series + some.length > MAX_SERIES) yield request();
      metrics.push(metricOf(instrument, some, { startTime, endTime }));
      series += some.length;
    }
  }
  if (series > 0) yield request();
}

function metricOf(instrument: Instrument, series: readonly Series[], times: object): object {
  const { name, description, unit, kind, bounds } = instrument;
  return {
    descriptor: { name, description, unit, valueType: DOUBLE },
    aggregationTemporality: CUMULATIVE,
    dataPointType: kind === 'histogram' ? HISTOGRAM : kind === 'gauge' ? GAUGE : SUM,
    isMonotonic: kind === 'counter',
    dataPoints: series.map((each) => ({ ...times, attributes: each.attributes, value: pointValue(each, bounds) })),
  };
}

function pointValue(series: Series, boundaries: readonly number[]): unknown {
  if (!(series instanceof Distribution)) return (series as Sum).value;
  const counts = [...series.counts];
  return { sum: series.sum, count: series.count, buckets: { boundaries, counts } };
}
