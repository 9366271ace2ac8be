import type { AdminSettings, ReloadSettings } from '#contract';
import type { Runtime } from '../runtime/runtime.ts';

const defaults: ReloadSettings = { drainMs: 30_000, streamDrainMs: 300_000, maxDraining: 8, guardMs: 0 };

/** How a configuration wants to follow another one: what its components say, else the defaults. */
export function reloadSettings({ compiled }: Runtime): ReloadSettings {
  return compiled.service.findLast(({ at }) => at.reload)?.at.reload ?? defaults;
}

/** How a configuration sets the admin port; undefined when it says nothing. */
export function adminSettings({ compiled }: Runtime): AdminSettings | undefined {
  return compiled.service.findLast(({ at }) => at.admin)?.at.admin;
}

/** How many revisions the history keeps when the configuration does not say. */
export const KEPT_REVISIONS = 20;
