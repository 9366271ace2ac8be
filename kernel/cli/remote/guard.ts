import { timerMs } from '#contract';
import type { GuardState } from '../../control/guard.ts';
import { printable } from '../formats/excerpt.ts';
import type { Terminal } from '../terminal.ts';
import { type AdminClient, exitCodes } from './client.ts';
import { followEvents } from './follow-events.ts';

/** Additional time to wait for a guard's decision after it has ended, in milliseconds. */
const GRACE_MS = 30_000;

/** Outcomes of a guard after which the change stays active and no problem is known. */
const good: ReadonlySet<GuardState['state']> = new Set(['passed', 'undecided']);

/**
 * Waits until the guard of a change has ended; the outcome is printed on standard error.
 * @param durationMs maximum duration of the guard.
 * @returns the exit code: 0 when the change has passed, or there were too few calls to decide. @throws Unreachable.
 */
export async function awaitDecision(
  client: AdminClient,
  { stderr }: Terminal,
  guard: GuardState,
  durationMs: number,
): Promise<number> {
  stderr.write(`the guard is ${guardWords(guard)}\n`);
  const decision = await decisionOf(client, guard, AbortSignal.timeout(timerMs(durationMs + GRACE_MS)));
  const isGood = decision !== null && good.has(decision.state);
  const words = decision ? guardWords(decision) : `the guard reported nothing for revision ${guard.revision}`;
  stderr.write(`${isGood ? '' : 'ERROR '}${printable(words)}\n`);
  return isGood ? exitCodes.ok : exitCodes.refused;
}

async function decisionOf(
  client: AdminClient,
  { attempt }: GuardState,
  signal: AbortSignal,
): Promise<GuardState | null> {
  // The guard may already have decided before the connection was opened, so stored events are read first.
  for await (const { data } of followEvents(client, { types: 'guard.*', after: '0', signal })) {
    const reported = JSON.parse(data) as GuardState;
    if (reported.attempt === attempt && reported.state !== 'watching') return reported;
  }
  return null;
}

const words: Readonly<Record<GuardState['state'], (guard: GuardState) => string>> = {
  watching: ({ revision, endsAt }) => `watching revision ${revision} until ${endsAt}`,
  passed: ({ revision }) => `revision ${revision} has passed its guard period`,
  undecided: ({ revision, reason }) =>
    `too little traffic for the change guard to evaluate revision ${revision}: ${reason}`,
  superseded: ({ revision, reason }) => `the guard of revision ${revision} ended early: ${reason}`,
  'rolled-back': ({ revision, reason, rolledBackTo }) =>
    `revision ${revision} was rolled back: ${reason}; now serving revision ${rolledBackTo}`,
  failed: ({ revision, reason }) => `revision ${revision} performs worse than the previous one: ${reason}`,
};

/** Describes the state of a guard in a sentence. */
export function guardWords(guard: GuardState): string {
  return words[guard.state](guard);
}
