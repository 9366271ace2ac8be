import type { Step, Wrap } from '#contract';

/** Folds wraps, outermost first, around the innermost step. Nothing to wrap costs nothing. */
export function fold<R>(wraps: readonly Wrap<R>[], innermost: Step<R>): Step<R> {
  return wraps.reduceRight((next, wrap) => wrap(next), innermost);
}
