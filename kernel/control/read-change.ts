import type { Overrides } from '../runtime/build/read-config.ts';
import { untilAborted } from '../values/until-aborted.ts';
import type { Current } from './change.ts';
import type { Generations } from './generations.ts';
import type { RunningAttempt } from './running-attempt.ts';
import type { SecretKeeper } from './secrets/secret-keeper.ts';
import { readSnapshot, type Snapshot } from './snapshot.ts';

/**
 * Reads the document of a change and its secrets, and stores both in the attempt.
 * @param current the active configuration; null at startup.
 * @throws ConfigErrors of `readSnapshot` and `resolveSecrets`.
 */
export async function readChange(
  running: RunningAttempt,
  current: Current | null,
  keeper: SecretKeeper,
  { generations, overrides }: { readonly generations: Generations; readonly overrides: Overrides },
): Promise<Snapshot> {
  const { change, phases, files, secretFiles } = running;
  const { signal } = phases;
  const read = () => readSnapshot(change.source, (file) => running.noteFile(file), current?.snapshot.document ?? null);
  const snapshot = change.asServed && current ? current.snapshot : await untilAborted(read(), signal);
  running.snapshot = snapshot;
  // In a sandbox, each mocked store receives one request. References to a store without a mock stay as written.
  const { sandbox } = generations.registry.services;
  running.secrets = await keeper.resolve(snapshot.data, {
    context: generations.context,
    files,
    secretFiles,
    pluginFolder: overrides.plugins,
    signal,
    fetches: sandbox && change.secrets ? 'none' : change.asServed ? 'unknown' : 'all',
    isStart: current === null && !sandbox,
    given: change.secrets ?? null,
    isTolerant: change.dryRun === true || sandbox?.network === false,
  });
  return snapshot;
}
