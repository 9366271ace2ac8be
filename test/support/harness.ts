import type { Level, Plugin } from '#contract';
import { type Harness, type HarnessOptions, openHarness as openAlone } from '../../kernel/testing/index.ts';
import { catalogue } from '../../plugins/index.ts';

const encodings = Object.entries(catalogue.plugins).filter(([name]) => name.startsWith('encoding/'));
const plugins: readonly Plugin[] = await Promise.all(encodings.map(async ([, load]) => (await load()).plugin));

/** Like `openHarness` of the package, with all built-in encodings in addition to the plugin. */
export function openHarness(
  plugin: Plugin,
  place: Level,
  config: unknown,
  around: HarnessOptions = {},
): Promise<Harness> {
  return openAlone(plugin, place, config, { plugins, ...around });
}
