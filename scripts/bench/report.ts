import type { Comparison, Side } from './measure.ts';
import type { Spread } from './spread.ts';
import { table } from './table.ts';

/** Results of one scenario, or the reason why they are missing. */
export type Outcome = { readonly name: string } & (Comparison | { readonly failed: string });

/** Formats the results as text: medians, with the minimum and maximum round in parentheses. */
export function describe(outcomes: readonly Outcome[]): string {
  const head = [
    'scenario',
    'base µs',
    'µs',
    'more µs',
    'ratio',
    'base r/s',
    'r/s',
    'base p50/p99 ms',
    'p50/p99 ms',
    'base MiB',
    'MiB',
  ];
  const measured = outcomes.filter((outcome) => 'ratio' in outcome);
  const failed = outcomes.filter((outcome) => 'failed' in outcome);
  const lines = measured.map(({ name, base, subject, ratio, more }) => [
    name,
    figure(base.cpuMicros, 1),
    figure(subject.cpuMicros, 1),
    figure(more, 1),
    figure(ratio, 2),
    base.requestsPerSecond.median.toFixed(0),
    subject.requestsPerSecond.median.toFixed(0),
    latency(base),
    latency(subject),
    figure(base.residentMiB, 0),
    figure(subject.residentMiB, 0),
  ]);
  return [table([head, ...lines]), ...failed.map(({ name, failed }) => `FAILED ${name}: ${failed}`)].join('\n');
}

function figure({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}-${max.toFixed(digits)})`;
}

function latency({ p50Millis, p99Millis }: Side): string {
  return `${p50Millis.median.toFixed(2)}/${p99Millis.median.toFixed(2)}`;
}
