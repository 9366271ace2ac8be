import { type Data, type DataObject, isObject, type Plugin } from '#contract';
import type { KnownPlugins } from '../known-plugins.ts';
import type { Origin, Report } from '../report.ts';

/**
 * Lets plugins that a document names bring old forms of what is written for them into present ones. Changes the document.
 * @returns false where there is none that would.
 */
export function convertComponents(document: DataObject, origin: Origin, known: KnownPlugins, report: Report): boolean {
  const plugins = namedIn(document, known);
  for (const plugin of plugins) {
    plugin.convert?.(document, {
      error: (code, pointer, message, options) => report.error(code, origin.pointer(pointer), message, options),
      warn: (code, pointer, message, options) => report.warn(code, origin.pointer(pointer), message, options),
      moved: (parent, key, ...from) => origin.renamed(parent, key, ...from),
    });
  }
  return plugins.size > 0;
}

/** The plugins that stand in a document, and convert: those at the root first, then those at endpoints, then those at backends. */
function namedIn(document: DataObject, known: KnownPlugins): Set<Plugin> {
  const endpoints = itemsOf(document['endpoints']);
  const holders = [document, ...endpoints, ...endpoints.flatMap((endpoint) => itemsOf(endpoint['backend']))];
  const plugins = new Set<Plugin>();
  for (const { extra_config: components } of holders) {
    if (!isObject(components)) continue;
    for (const name in components) {
      const plugin = known.plugin(name);
      if (plugin?.convert) plugins.add(plugin);
    }
  }
  return plugins;
}

function itemsOf(list: Data | undefined): readonly DataObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}
