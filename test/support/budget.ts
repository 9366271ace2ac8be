import { chanceFrom } from './chance.ts';

/** True in `npm run test:long`, where long searches run whole. */
export const isLong = process.env['SLUICE_TEST_LONG'] === '1';

/** Seed of what a short run picks; printed in the titles of tests, and repeated by setting it. */
export const budgetSeed = Number(process.env['SLUICE_TEST_SEED'] ?? Date.now() % 100_000);

/** True for one in `share` inputs, picked by the seed; for all of them in a long run. */
export function sampler(share: number): () => boolean {
  const { below } = chanceFrom(budgetSeed);
  return () => isLong || below(share) === 0;
}

/** A number of repetitions: the first in `npm test`, the second in a long run. */
export const repetitions = (short: number, long: number): number => (isLong ? long : short);
