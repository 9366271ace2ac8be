import { type AttachmentTraits, ConfigError } from '#contract';
import type { Attached } from './attachments.ts';
import type { Build } from './site.ts';

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
