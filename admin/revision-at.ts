import { ConfigText, type Operations, type Revision, type RevisionSummary, readSnapshot, type Snapshot } from '#kernel';
import { Problem } from './problem.ts';

/** @throws Problem not-found for a revision that never existed, gone for one that was pruned. */
export function demandRevision<T extends RevisionSummary>(match: T | 'pruned' | undefined, number: number): T {
  if (match === undefined) throw new Problem('not-found', `revision ${number} does not exist`);
  if (match === 'pruned') throw new Problem('gone', `revision ${number} has been pruned`);
  return match;
}

/** A revision in the history, with its content. @throws Problem as `demandRevision`. */
export async function revisionAt({ revisions }: Operations, number: number): Promise<Revision> {
  return demandRevision(await revisions.get(number), number);
}

/** The content of a revision, parsed. @throws Problem as `demandRevision`. */
export async function snapshotOf(gateway: Operations, number: number): Promise<Snapshot> {
  const { text, format } = await revisionAt(gateway, number);
  return readSnapshot(new ConfigText(text, format), undefined, 'aside');
}
