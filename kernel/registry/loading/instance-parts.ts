import type { PluginSource } from '#contract';

/**
 * Objects that belong to a single instance of a plugin's file and that most of its functions reference: the exports of
 * each module, and its imports of the contract. As long as one is in memory, so is the instance.
 */
const parts = new WeakMap<PluginSource, readonly WeakRef<object>[]>();

export function noteInstance(source: PluginSource, objects: readonly object[]): void {
  parts.set(
    source,
    objects.map((object) => new WeakRef(object)),
  );
}

/** The parts of an instance; empty for a source that was not loaded here. */
export function instanceParts(source: PluginSource): readonly WeakRef<object>[] {
  return parts.get(source) ?? [];
}
