import { type Absent, type ContestResult, DIRECT } from './contest.ts';
import type { Spread } from './spread.ts';
import { table } from './table.ts';

/** Results of one scenario's programs. */
export interface ContestOutcome {
  readonly name: string;
  readonly results: readonly ContestResult[];
  readonly absent: readonly Absent[];
}

const HEAD = ['program', 'user µs', 'system µs', 'µs', 'ratio', 'r/s', 'p50/p99 ms', 'at half p50/p99 ms', 'MiB'];

/** Formats the results as text: medians, and for CPU time and ratio the minimum and maximum in parentheses. */
export function describeContest({ name, results, absent }: ContestOutcome): string {
  const lines = results.map((result) => {
    const { full, ratio, half } = result;
    return [
      result.name === DIRECT ? 'direct (CPU of the backend)' : result.name,
      full.userMicros.median.toFixed(1),
      full.systemMicros.median.toFixed(1),
      bracketed(full.cpuMicros, 1),
      ratio ? bracketed(ratio, 2) : '-',
      full.requestsPerSecond.median.toFixed(0),
      pair(full),
      half ? pair(half) : '-',
      full.residentMiB.median.toFixed(0),
    ];
  });
  const voided = results
    .filter((result) => result.voided.length > 0)
    .map((result) => `void  ${result.name}: ${result.voided.length} rounds, the first for: ${result.voided[0]}`);
  const missing = absent.map((one) => `none  ${one.name}: ${one.reason}`);
  return [name, table([HEAD, ...lines]), ...voided, ...missing].join('\n');
}

function bracketed({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}-${max.toFixed(digits)})`;
}

function pair({ p50Millis, p99Millis }: { readonly p50Millis: Spread; readonly p99Millis: Spread }): string {
  return `${p50Millis.median.toFixed(2)}/${p99Millis.median.toFixed(2)}`;
}
