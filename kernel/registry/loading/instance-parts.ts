import type { PluginSource } from '#contract';

/**
 * Objects that an instance of a plugin's file alone has, and that most of its functions lead to: what each module exports, and
 * what it imports of the contract. As long as one is in memory, so is the instance.
 */
const parts = new WeakMap<PluginSource, readonly WeakRef<object>[]>();

export function noteInstance(source: PluginSource, objects: readonly object[]): void {
  parts.set(
    source,
    objects.map((object) => new WeakRef(object)),
  );
}

/** Empty for a source that was not loaded here. */
export function instanceParts(source: PluginSource): readonly WeakRef<object>[] {
  return parts.get(source) ?? [];
}
