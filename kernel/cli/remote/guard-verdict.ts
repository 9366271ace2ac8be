import { printable } from '../formats/excerpt.ts';
import type { Terminal } from '../terminal.ts';
import { exitCodes } from './answer.ts';
import type { AdminClient } from './client.ts';
import { followEvents } from './follow-events.ts';

/** How much longer than the guard watches its verdict is waited for, in milliseconds. */
const GRACE_MS = 30_000;

/** What an event may say of the change that is watched. */
interface Told {
  readonly attempt?: number;
  readonly trigger?: string;
  readonly result?: string;
  readonly revision?: number;
  readonly reason?: string;
  readonly rolledBackTo?: number;
}

interface Verdict {
  readonly passed: boolean;
  readonly words: string;
}

/**
 * Waits until the guard has judged a change; the verdict goes to standard error.
 * @param durationMs how long the guard watches. @returns the exit code: 0 when the change has passed. @throws Unreachable.
 */
export async function awaitVerdict(
  client: AdminClient,
  { stderr }: Terminal,
  revision: number,
  durationMs: number,
): Promise<number> {
  stderr.write(`the guard watches revision ${revision} for ${Math.round(durationMs / 1000)} s\n`);
  const { passed, words } = await verdictOf(client, revision, AbortSignal.timeout(durationMs + GRACE_MS));
  stderr.write(`${passed ? '' : 'ERROR '}${printable(words)}\n`);
  return passed ? exitCodes.ok : exitCodes.refused;
}

async function verdictOf(client: AdminClient, revision: number, signal: AbortSignal): Promise<Verdict> {
  const readers = readersOf(revision);
  const types = Object.keys(readers).join();
  // The verdict may have come already: what is remembered is told first.
  for await (const { type, data } of followEvents(client, { types, after: '0', signal })) {
    const verdict = readers[type]?.(JSON.parse(data) as Told);
    if (verdict) return verdict;
  }
  return { passed: false, words: `the guard told nothing of revision ${revision}` };
}

/** What each type of event says about a revision; null when nothing. */
function readersOf(watched: number): Readonly<Record<string, (told: Told) => Verdict | null>> {
  /** Attempts by which the guard itself takes something back. */
  const takingBack = new Set<number | undefined>();
  return {
    'reload.started': ({ trigger, attempt }) => {
      if (trigger === 'guard') takingBack.add(attempt);
      return null;
    },
    'reload.succeeded': ({ result, revision = 0, attempt }) =>
      result === 'applied' && revision > watched && !takingBack.has(attempt)
        ? { passed: false, words: `revision ${revision} took the place of ${watched} before the guard was done` }
        : null,
    'guard.passed': ({ revision }) =>
      revision === watched ? { passed: true, words: `revision ${revision} has passed its guard` } : null,
    'guard.failed': ({ revision, reason, rolledBackTo }) =>
      revision === watched
        ? { passed: false, words: `revision ${revision} was taken back: ${reason}; revision ${rolledBackTo} serves` }
        : null,
  };
}
