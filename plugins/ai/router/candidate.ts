import type { PipeRequest, Step } from '#contract';
import type { Candidate as Choice } from '../lib/classifiers.ts';
import type { Health } from './health.ts';
import type { Strategy } from './schema.ts';

/** A provider that a route can call. */
export interface Candidate extends Choice {
  /** Sum of the prices of input and output; infinite if unknown. */
  readonly price: number;
  readonly health: Health;
  readonly call: Step<PipeRequest>;
}

/** Orders candidates for one request. */
export type Arrange = (candidates: readonly Candidate[], now: number) => readonly Candidate[];

/** @param weights by provider, for the strategy `weight`. */
export function arrangeBy(strategy: Strategy, weights: ReadonlyMap<string, number>, random = Math.random): Arrange {
  const keys: Readonly<Record<Strategy, ((candidate: Candidate, now: number) => number) | null>> = {
    order: null,
    // Sorting by this random key results in a weighted order: each item comes first with a probability proportional to
    // its weight.
    weight: ({ name }) => -(Math.max(random(), Number.MIN_VALUE) ** (1 / (weights.get(name) ?? 1))),
    cost: ({ price }) => price,
    latency: ({ health }, now) => health.latencyMs(now),
    availability: ({ health }) => health.failureRate,
  };
  const key = keys[strategy];
  return (candidates, now) => {
    const sorted = key === null ? candidates : sortedBy(candidates, (each) => key(each, now));
    if (strategy === 'latency') sorted[0]?.health.measuring(now);
    return sorted;
  };
}

/** Moves the candidates that failed recently to the end. */
export function coolingLast(candidates: readonly Candidate[], now: number): readonly Candidate[] {
  if (!candidates.some(({ health }) => health.isCooling(now))) return candidates;
  return sortedBy(candidates, ({ health }) => (health.isCooling(now) ? 1 : 0));
}

/** Sorts by a key that is computed once for each item. */
function sortedBy(candidates: readonly Candidate[], key: (candidate: Candidate) => number): readonly Candidate[] {
  const keyed = candidates.map((candidate) => ({ candidate, value: key(candidate) }));
  return keyed.sort((a, b) => compare(a.value, b.value)).map(({ candidate }) => candidate);
}

/** Compares two keys. Also works for infinite keys, whose difference is not a number. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
