import { timerMs } from '#contract';
import { printable } from '../formats/excerpt.ts';
import type { Terminal } from '../terminal.ts';
import type { GuardBody } from './bodies.ts';
import { type AdminClient, exitCodes } from './client.ts';
import { followEvents } from './follow-events.ts';

/** How much longer than the guard watches its decision is waited for, in milliseconds. */
const GRACE_MS = 30_000;

/** States in which the change serves on, and nothing is known against it. */
const good: ReadonlySet<GuardBody['state']> = new Set(['passed', 'undecided']);

/**
 * Waits until a guard has ended; how goes to standard error.
 * @param durationMs how long it watches at most.
 * @returns the exit code: 0 when the change has passed, or too few calls came to decide. @throws Unreachable.
 */
export async function awaitDecision(
  client: AdminClient,
  { stderr }: Terminal,
  guard: GuardBody,
  durationMs: number,
): Promise<number> {
  stderr.write(`the guard is ${guardWords(guard)}\n`);
  const decision = await decisionOf(client, guard, AbortSignal.timeout(timerMs(durationMs + GRACE_MS)));
  const isGood = decision !== null && good.has(decision.state);
  const words = decision ? guardWords(decision) : `the guard reported nothing for revision ${guard.revision}`;
  stderr.write(`${isGood ? '' : 'ERROR '}${printable(words)}\n`);
  return isGood ? exitCodes.ok : exitCodes.refused;
}

async function decisionOf(client: AdminClient, { attempt }: GuardBody, signal: AbortSignal): Promise<GuardBody | null> {
  // The decision may have come already: what is remembered is told first.
  for await (const { data } of followEvents(client, { types: 'guard.*', after: '0', signal })) {
    const reported = JSON.parse(data) as GuardBody;
    if (reported.attempt === attempt && reported.state !== 'watching') return reported;
  }
  return null;
}

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
