import type { GuardBody } from './bodies.ts';

const words: Readonly<Record<GuardBody['state'], (guard: GuardBody) => string>> = {
  watching: ({ revision, endsAt }) => `watching revision ${revision} until ${endsAt}`,
  passed: ({ revision }) => `revision ${revision} has passed its guard`,
  undecided: ({ revision, reason }) => `the guard cannot evaluate revision ${revision}: ${reason}`,
  superseded: ({ revision, reason }) => `the guard over revision ${revision} ended early: ${reason}`,
  'rolled-back': ({ revision, reason, rolledBackTo }) =>
    `revision ${revision} was rolled back: ${reason}; now serving revision ${rolledBackTo}`,
  failed: ({ revision, reason }) => `revision ${revision} got worse: ${reason}`,
};

/** How a guard stands, in a sentence. */
export function guardWords(guard: GuardBody): string {
  return words[guard.state](guard);
}
