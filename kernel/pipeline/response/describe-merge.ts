import type { AtEndpoint, Encoding, Log } from '#contract';
import type { AttachedBackend } from '../attach/attachments.ts';

/** The parts of a pipe that determine how the responses of its backends are merged. */
interface Merging {
  readonly output: Encoding;
  readonly backends: readonly AttachedBackend[];
  readonly gathering: Pick<AtEndpoint, 'gather' | 'combine'>;
}

/** Logs how several backends are merged. */
export function describeMerge({ output, backends, gathering: { gather, combine } }: Merging, log: Log): void {
  const regular = backends.filter(({ shadow }) => !shadow);
  // If bytes pass undecoded, at most one of several conditional backends is called, so that nothing is merged.
  const isOneOf = output.raw === true && regular.some(({ condition }) => condition);
  if (regular.length === 1 || isOneOf) return;
  const merger = gather?.name ?? 'parallel';
  log
    .at('[Merge]')
    .debug(() => `Backends: ${regular.length}, merger: ${merger}, combiner: ${combine?.name || 'default'}`);
}
