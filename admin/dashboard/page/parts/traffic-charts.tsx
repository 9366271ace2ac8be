import { compact, milliseconds } from '../format.ts';
import { Chart } from './chart.tsx';

/** Traffic during a short time. */
export interface TrafficPoint {
  /** In milliseconds since 1970. */
  readonly endedAt: number;
  readonly durationMs: number;
  /** Responses by status class. */
  readonly statuses: readonly number[];
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
}

export interface TrafficChartsProps {
  readonly samples: readonly TrafficPoint[];
  /** Names of the status classes, in the order of `statuses` of a sample. */
  readonly statusClasses: readonly string[];
}

/** Rates of the status classes, and latency, over time. */
export function TrafficCharts({ samples, statusClasses }: TrafficChartsProps) {
  if (samples.length === 0) return null;
  const times = samples.map(({ endedAt }) => endedAt);
  const rate = (name: string) => {
    const at = statusClasses.indexOf(name);
    return samples.map(({ statuses, durationMs }) => ((statuses[at] ?? 0) * 1000) / durationMs);
  };
  const perSecond = (value: number) => `${compact(value)} /s`;
  return (
    <div class="charts">
      <Chart
        title="Responses"
        times={times}
        format={perSecond}
        series={[
          { label: '2xx', color: '--good', values: rate('2xx') },
          { label: '3xx', color: '--plain', values: rate('3xx') },
          { label: '4xx', color: '--warning', values: rate('4xx') },
          { label: '5xx', color: '--bad', values: rate('5xx') },
        ]}
      />
      <Chart
        title="Latency"
        times={times}
        format={milliseconds}
        series={[
          { label: 'p50', color: '--good', values: samples.map(({ p50Ms }) => p50Ms) },
          { label: 'p95', color: '--warning', values: samples.map(({ p95Ms }) => p95Ms) },
          { label: 'p99', color: '--bad', values: samples.map(({ p99Ms }) => p99Ms) },
        ]}
      />
    </div>
  );
}
