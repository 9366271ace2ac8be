import { type Conversion, type Data, type DataObject, isObject, joinPointer, setKey } from '#contract';

/** Schema of the fields of a list entry. The list is converted before its component is validated. */
export const pluginList = {
  type: 'array',
  items: {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 1, description: 'Name of the plugin.' },
      config: { type: 'any', description: 'Settings of the plugin.' },
      on_load_error: {
        type: 'string',
        enum: ['critical', 'error', 'passthrough'],
        description: 'Behavior if the plugin cannot be loaded. Default: critical.',
        unused: { because: 'a plugin that cannot be loaded prevents the start', unless: ['critical'] },
      },
    },
  },
  description:
    'Plugins with their settings, in the form of version 4 of the format. Equivalent to the names in `name` with their settings next to it. Cannot be combined with `name`.',
  examples: [[{ name: 'example', config: { header: 'X-Team' } }]],
} as const;

/**
 * Converts the lists of a component to its names and their settings.
 * Codes: PLUGIN_FIELD if `name` is also set, PLUGIN_DUPLICATE for a name listed twice; a warning OPTION_UNUSED.
 */
export function convertLists(component: string, document: DataObject, report: Conversion): void {
  for (const { holder, pointer } of report.holders(document)) {
    const components = holder['extra_config'];
    const config = isObject(components) && Object.hasOwn(components, component) ? components[component] : undefined;
    if (!isObject(config) || !Array.isArray(config['plugins'])) continue;
    if (!config['plugins'].every(isEntry)) continue;
    convertList(config, config['plugins'], joinPointer(pointer, 'extra_config', component), report);
  }
}

interface Entry extends DataObject {
  readonly name: string;
}

/** Whether an entry has the form of version 4; entries of another form are rejected by the schema. */
function isEntry(entry: Data): entry is Entry {
  const known = ['name', 'config', 'on_load_error'];
  return (
    isObject(entry) &&
    typeof entry['name'] === 'string' &&
    Object.keys(entry).every((key) => known.includes(key) || /^[@$_#]/.test(key))
  );
}

function convertList(config: DataObject, entries: readonly Entry[], at: string, report: Conversion): void {
  const list = joinPointer(at, 'plugins');
  if (Object.hasOwn(config, 'name')) {
    report.error('PLUGIN_FIELD', list, '"plugins" cannot be combined with "name"', {
      hint: 'Move the names to "plugins", each with its settings as "config".',
    });
    return;
  }
  delete config['plugins'];
  config['name'] = entries.map(({ name }) => name);
  report.moved(at, 'name', 'plugins');
  for (const [index, { name, config: settings, on_load_error: behavior = 'critical' }] of entries.entries()) {
    report.moved(joinPointer(at, 'name'), String(index), String(index), 'name');
    if (entries.findIndex((entry) => entry.name === name) < index) {
      report.error('PLUGIN_DUPLICATE', joinPointer(list, index, 'name'), `"${name}" is listed twice`);
      continue;
    }
    if (name === 'name' || name === 'plugins') {
      report.error('PLUGIN_FIELD', joinPointer(list, index, 'name'), `"${name}" cannot be the name of a plugin`);
      continue;
    }
    if (behavior !== 'critical') {
      const message = 'on_load_error has no effect: the gateway does not start if a plugin cannot be loaded';
      report.warn('OPTION_UNUSED', joinPointer(list, index, 'on_load_error'), message);
    }
    if (settings === undefined) continue;
    setKey(config, name, settings);
    report.moved(at, name, 'plugins', String(index), 'config');
  }
}

/**
 * Returns settings with the names of their plugins as a list in the form of version 4; the reason, as text, if such a
 * list cannot express them. Invalid settings are returned unchanged, for check to report.
 */
export function listedPlugins(config: DataObject): DataObject | string {
  const { name: written, ...rest } = config;
  if (written === undefined || Object.hasOwn(config, 'plugins')) return config;
  const names = [written].flat();
  if (!names.every((name) => typeof name === 'string')) return config;
  if (names.length === 0) return 'a list needs at least one plugin';
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) return `"${repeated}" is named twice`;
  const isComment = (key: string) => /^[@$_#]/.test(key);
  const other = Object.keys(rest).find((key) => !names.includes(key) && !isComment(key));
  if (other !== undefined) return `the field "${other}" does not belong to a listed plugin`;
  const plain = names.find((name) => Object.hasOwn(rest, name) && !isObject(rest[name]));
  if (plain !== undefined) return `the settings of "${plain}" are not an object`;
  const plugins = names.map((name) => ({ name, ...(Object.hasOwn(rest, name) && { config: rest[name]! }) }));
  const comments = Object.entries(rest).filter(([key]) => isComment(key) && !names.includes(key));
  return { ...Object.fromEntries(comments), plugins };
}
