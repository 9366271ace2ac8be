import type { Applied, Operations } from '#kernel';
import type { JsonSchema } from './schemas.ts';
import {
  guardSchema,
  issueSchema,
  listOf,
  mapOf,
  objectOf,
  oneOf,
  orNull,
  replaySchema,
  shadowSchema,
  text,
  whole,
} from './schemas.ts';

/** Response body that describes what a change did. */
export function appliedBody(applied: Applied, { processes, attempts }: Operations): object {
  const { result, revision, previous, hash, attempt, durationMs, phases, changes, rebound, issues } = applied;
  const { guard = null, replay = null, shadow = null } = attempts.get(attempt) ?? {};
  const workers = processes.workers.length;
  return {
    result,
    revision,
    previous,
    hash,
    attempt,
    durationMs,
    phases: { read: 0, render: 0, validate: 0, build: 0, warmup: 0, swap: 0, ...phases },
    changes,
    rebound,
    // Always empty, because every setting can be changed without a restart.
    requiresRestart: [],
    warnings: issues,
    guard,
    replay,
    shadow,
    workers: { prepared: result === 'unchanged' ? 0 : workers, committed: result === 'applied' ? workers : 0 },
  };
}

/** Schema of the body. */
export const appliedSchema: JsonSchema = objectOf('Applied', {
  result: oneOf(['applied', 'unchanged', 'dry_run']),
  revision: whole,
  previous: whole,
  hash: text,
  attempt: whole,
  durationMs: whole,
  phases: mapOf({ type: 'number' }),
  changes: objectOf('AppliedChanges', { added: listOf(text), changed: listOf(text), removed: listOf(text) }),
  rebound: listOf(text),
  requiresRestart: listOf(text),
  warnings: listOf(issueSchema),
  guard: orNull(guardSchema),
  replay: orNull(replaySchema),
  shadow: orNull(shadowSchema),
  workers: objectOf('AppliedWorkers', { prepared: whole, committed: whole }),
});
