import type { Level, Plugin } from '#contract';
import { type Stand, type Surroundings, stand as standAlone } from '../../kernel/testing/index.ts';
import { catalogue } from '../../plugins/index.ts';

const encodings = Object.entries(catalogue.plugins).filter(([name]) => name.startsWith('encoding/'));
const plugins: readonly Plugin[] = await Promise.all(encodings.map(async ([, load]) => (await load()).plugin));

/** As `stand`, with every encoding of this release beside the plugin. */
export function stand(plugin: Plugin, place: Level, config: unknown, around: Surroundings = {}): Promise<Stand> {
  return standAlone(plugin, place, config, { plugins, ...around });
}
