import type { AtEndpoint, Encoding, Log } from '#contract';
import type { AttachedBackend } from './attachments.ts';

/** What decides how the answers of the backends of a pipe become one. */
interface Merging {
  readonly output: Encoding;
  readonly backends: readonly AttachedBackend[];
  readonly gathering: Pick<AtEndpoint, 'gather' | 'combine'>;
}

/** Tells the log of it, where there are several. */
export function tellMerge({ output, backends, gathering: { gather, combine } }: Merging, log: Log): void {
  const regular = backends.filter(({ shadow }) => !shadow);
  // Of those that pass undecoded and are chosen one alone answers.
  const isOneOf = output.raw === true && regular.some(({ condition }) => condition);
  if (regular.length === 1 || isOneOf) return;
  const merger = gather?.sequential ? 'sequential' : 'parallel';
  log
    .at('[Merge]')
    .debug(() => `Backends: ${regular.length}, merger: ${merger}, combiner: ${combine?.name || 'default'}`);
}
