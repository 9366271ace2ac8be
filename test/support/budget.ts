import { chanceFrom } from './chance.ts';

/** True in `npm run test:long`, where long searches run completely. */
export const isLong = process.env['SLUICE_TEST_LONG'] === '1';

/** Seed of the selection in a short run. It is printed in test titles; setting it repeats the run. */
export const budgetSeed = Number(process.env['SLUICE_TEST_SEED'] ?? Date.now() % 100_000);

/** True for one in `share` inputs, selected by the seed; in a long run for all of them. */
export function sampler(share: number): () => boolean {
  const { below } = chanceFrom(budgetSeed);
  return () => isLong || below(share) === 0;
}

/** A number of repetitions: the first in `npm test`, the second in a long run. */
export const repetitions = (short: number, long: number): number => (isLong ? long : short);
