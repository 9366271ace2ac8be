import type { AdminSettings, ReloadSettings } from '#contract';
import type { Runtime } from '../runtime/runtime.ts';

const defaults: ReloadSettings = { drainMs: 30_000, streamDrainMs: 300_000, maxDraining: 8, guardMs: 0 };

/** Reload settings of a configuration: those of its components, or else the defaults. */
export function reloadSettings({ compiled }: Runtime): ReloadSettings {
  return compiled.service.findLast(({ at }) => at.reload)?.at.reload ?? defaults;
}

/** Admin port settings of a configuration; undefined if it has none. */
export function adminSettings({ compiled }: Runtime): AdminSettings | undefined {
  return compiled.service.findLast(({ at }) => at.admin)?.at.admin;
}

/** Default number of revisions kept in the history. */
export const KEPT_REVISIONS = 20;
