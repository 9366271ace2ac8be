import { type AttachmentTraits, ConfigError } from '#contract';
import type { Attached } from './attach.ts';
import type { Build } from './site.ts';

/**
 * What one component alone may bring to a place. Two that bring it are a mistake that names both.
 *
 * Code: PLUGINS_CONFLICT.
 * @param does what they both do, as in "decide how the backends are called".
 */
export function onlyClaim<A, K extends keyof A>(
  build: Build,
  attached: readonly Attached<A>[],
  part: K,
  does: string,
): A[K] | undefined {
  const [first, ...others] = attached.filter(({ at }) => at[part] !== undefined);
  for (const other of others) {
    const message = `"${first!.plugin.name}" and "${other.plugin.name}" cannot both ${does}`;
    build.errors.push(new ConfigError('PLUGINS_CONFLICT', other.pointer, message, { related: [first!.pointer] }));
  }
  return first?.at[part];
}

/** A wrap that may answer by itself hides what stands inside it: the operator is told what. */
export function reportHidden(build: Build, outermostFirst: readonly Attached<AttachmentTraits>[]): void {
  for (const [at, { plugin, at: stand, pointer }] of outermostFirst.entries()) {
    const hidden = outermostFirst.slice(at + 1).filter((inner) => inner.plugin !== plugin);
    if (!stand.terminal || hidden.length === 0) continue;
    const names = hidden.map((inner) => `"${inner.plugin.name}"`).join(', ');
    build.warnings.push(
      new ConfigError('PLUGIN_HIDDEN', pointer, `"${plugin.name}" answers by itself, so ${names} may never run`, {
        related: hidden.map((inner) => inner.pointer),
      }),
    );
  }
}
