import { takeFingerprint } from '../runtime/prints/fingerprint.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Trigger } from './attempts.ts';
import type { Change } from './change.ts';
import type { Control } from './control.ts';
import type { Generations } from './generations.ts';
import type { Revision } from './revision.ts';
import type { RevisionStore } from './revision-store.ts';
import { ConfigText, type Snapshot } from './snapshot.ts';

const sources: Readonly<Record<Exclude<Trigger, 'api'>, Revision['source']>> = {
  start: 'start',
  watch: 'file',
  signal: 'file',
  rollback: 'rollback',
  guard: 'guard',
  resume: 'resume',
  secret: 'secret',
};

/** Adds every configuration that begins to serve to the history. */
export function recordRevisions(control: Control, generations: Generations, revisions: RevisionStore): void {
  control.onDone.push((change, { result, revision, hash, previous }) => {
    if (result !== 'applied' || change.recorded === false || previous === 0) return;
    const { runtime } = generations.current;
    // The write is not awaited: the revision is in the history immediately, and a slow disk must not delay the change.
    void revisions.add(toRevision(change, revision, hash, control.current.snapshot, runtime));
  });
}

/** Records the first configuration. Its fingerprint is computed in short time slices, because requests are already served. */
export async function recordStart(control: Control, generations: Generations, revisions: RevisionStore): Promise<void> {
  const { trigger, snapshot } = control.current;
  const { runtime } = generations.current;
  if (revisions.list()[0]?.number === runtime.id) return;
  runtime.fingerprint = await takeFingerprint(runtime.config);
  void revisions.add(toRevision({ trigger }, runtime.id, runtime.hash, snapshot, runtime));
}

function toRevision(
  { trigger, actor, message, source }: Change,
  number: number,
  hash: string,
  snapshot: Snapshot,
  runtime: Runtime,
): Revision {
  const files = runtime.files.map(({ path }) => path);
  return {
    number,
    hash,
    at: new Date().toISOString(),
    source: trigger === 'api' ? (source instanceof ConfigText ? 'api' : 'file') : sources[trigger],
    actor: actor ?? null,
    message: message ?? null,
    result: 'applied',
    reason: null,
    pinned: false,
    format: snapshot.format,
    files: typeof snapshot.source === 'string' ? [snapshot.source, ...files] : files,
    text: snapshot.text,
  };
}
