import type { Counter, EndpointSite, Histogram } from '#contract';

/** Counts a decision on a request by its result, and records its duration since `startedAt` unless it was cached. */
export type Measure<Result extends string> = (result: Result | 'cached', startedAt: number) => void;

/** Measures the decisions of an endpoint. @param results all results. */
export function measure<Result extends string>(
  { endpoint: { endpoint } }: EndpointSite<unknown>,
  decisions: Counter,
  duration: Histogram,
  results: readonly Result[],
): Measure<Result> {
  const labels = new Map(([...results, 'cached'] as const).map((result) => [result, { endpoint, result }]));
  return (result, startedAt) => {
    decisions.add(1, labels.get(result)!);
    if (result !== 'cached') duration.record((performance.now() - startedAt) / 1000, labels.get(result)!);
  };
}
