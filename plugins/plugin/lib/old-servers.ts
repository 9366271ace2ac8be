import { type Conversion, type DataObject, isObject, joinPointer } from '#contract';

const SERVER = 'plugin/http-server';

/** Successors of KrakenD's built-in servers: components with the same settings. */
export const successors: Readonly<Record<string, string>> = {
  'static-filesystem': 'server/static-filesystem',
  virtualhost: 'server/virtualhost',
};

/**
 * Converts KrakenD's built-in servers to their successors.
 * Codes: a warning CONFIG_OLD_PLUGIN; PLUGIN_DUPLICATE if the successor is also configured.
 */
export function convertServers(document: DataObject, report: Conversion): void {
  const components = document['extra_config'];
  const config = isObject(components) ? components[SERVER] : undefined;
  if (!isObject(components) || !isObject(config)) return;
  const names = [config['name'] ?? []].flat();
  const old = names.filter((name) => typeof name === 'string' && Object.hasOwn(successors, name)) as string[];
  for (const name of new Set(old)) {
    const component = successors[name]!;
    const settings = config[name] ?? {};
    const at = joinPointer('', 'extra_config', SERVER, 'name');
    if (Object.hasOwn(components, component)) {
      const related = [joinPointer('', 'extra_config', component)];
      report.error('PLUGIN_DUPLICATE', at, `the built-in server "${name}" cannot be combined with "${component}"`, {
        related,
      });
      continue;
    }
    report.warn(
      'CONFIG_OLD_PLUGIN',
      at,
      `the built-in server "${name}" is outdated: it was replaced by "${component}"`,
      {
        hint: `"${component}": ${JSON.stringify(settings)}`,
      },
    );
    components[component] = settings;
    report.moved('/extra_config', component, SERVER, name);
  }
  if (old.length === 0) return;
  config['name'] = names.filter((name) => !old.includes(name as string));
  for (const name of old) delete config[name];
}
