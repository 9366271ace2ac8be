import { ConfigError } from '#contract';
import type { Attached } from './attachments.ts';
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
