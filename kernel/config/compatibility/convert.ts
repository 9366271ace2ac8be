import { type Data, type DataObject, isObject, type Plugin } from '#contract';
import type { Origin, Report } from '../issues/report.ts';
import type { KnownPlugins } from '../normalize/known-plugins.ts';
import { holdersIn } from './holders.ts';

/**
 * Converts old forms of component settings to current ones, through the plugins that the document names. Modifies the
 * document.
 * @returns false if none of them converts anything.
 */
export function convertComponents(document: DataObject, origin: Origin, known: KnownPlugins, report: Report): boolean {
  const plugins = namedIn(document, known);
  for (const plugin of plugins) {
    plugin.convert?.(document, {
      error: (code, pointer, message, options) => report.error(code, origin.pointer(pointer), message, options),
      warn: (code, pointer, message, options) => report.warn(code, origin.pointer(pointer), message, options),
      moved: (parent, key, ...from) => origin.renamed(parent, key, ...from),
      derived: (pointer) => origin.derive(pointer),
      holders: holdersIn,
    });
  }
  for (const endpoint of itemsOf(document['endpoints'])) fillBackend(endpoint, plugins);
  return plugins.size > 0;
}

/** Adds a backend to endpoints that have none, which is allowed with a component that responds on its own. */
function fillBackend(endpoint: DataObject, plugins: ReadonlySet<Plugin>): void {
  const { extra_config: components } = endpoint;
  if (Object.hasOwn(endpoint, 'backend') || !isObject(components)) return;
  const isAlone = [...plugins].some(({ name, answersAlone }) => answersAlone && Object.hasOwn(components, name));
  // The added backend is never called. It has a host so that no error about missing hosts is reported in addition if
  // the component is invalid.
  if (isAlone) endpoint['backend'] = [{ url_pattern: '/', host: ['http://localhost'] }];
}

/** Plugins named in a document that convert it or respond on their own, those at the root first. */
function namedIn(document: DataObject, known: KnownPlugins): Set<Plugin> {
  const plugins = new Set<Plugin>();
  for (const { holder } of holdersIn(document)) {
    const components = holder['extra_config'];
    if (!isObject(components)) continue;
    for (const name in components) {
      const plugin = known.plugin(name);
      if (plugin?.convert || plugin?.answersAlone) plugins.add(plugin);
    }
  }
  return plugins;
}

function itemsOf(list: Data | undefined): readonly DataObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}
