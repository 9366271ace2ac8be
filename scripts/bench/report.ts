import type { Comparison, Side } from './measure.ts';
import type { Spread } from './spread.ts';
import { table } from './table.ts';

/** One scenario's figures, or why there are none. */
export type Outcome = { readonly name: string } & (Comparison | { readonly failed: string });

/**
 * The figures for people: medians, in brackets the least and the greatest round.
 * @param subject name of what is compared with the floor.
 */
export function describe(outcomes: readonly Outcome[], subject: string): string {
  const head = [
    'scenario',
    'floor µs',
    `${subject} µs`,
    'ratio',
    'floor r/s',
    `${subject} r/s`,
    'floor p50/p99 ms',
    `${subject} p50/p99 ms`,
  ];
  const measured = outcomes.filter((outcome) => 'ratio' in outcome);
  const failed = outcomes.filter((outcome) => 'failed' in outcome);
  const lines = measured.map(({ name, floor, subject, ratio }) => [
    name,
    figure(floor.cpuMicros, 1),
    figure(subject.cpuMicros, 1),
    figure(ratio, 2),
    floor.requestsPerSecond.median.toFixed(0),
    subject.requestsPerSecond.median.toFixed(0),
    latency(floor),
    latency(subject),
  ]);
  return [table([head, ...lines]), ...failed.map(({ name, failed }) => `FAILED ${name}: ${failed}`)].join('\n');
}

function figure({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}-${max.toFixed(digits)})`;
}

function latency({ p50Millis, p99Millis }: Side): string {
  return `${p50Millis.median.toFixed(2)}/${p99Millis.median.toFixed(2)}`;
}
