import { findNear, joinPointer } from '#contract';
import { handlers, type Kind } from './handlers.ts';
import { findNamed, type Named, type NamingSite } from './place.ts';

/** A built-in plugin that a configuration lists. */
export interface NamedBuiltIn<Name extends string> {
  readonly name: Name;
  /** Pointer to the settings of the plugin, relative to the configuration. */
  readonly pointer: string;
  readonly settings: unknown;
}

/**
 * Finds the built-in plugins among the listed names, by position. Warning PLUGIN_UNUSED for settings of a plugin that
 * is not listed.
 * @param known names of the built-in plugins. @param pointerOf returns the pointer to a name, by position.
 * @throws ConfigError PLUGIN_FIELD for a key that resembles a known name, PLUGIN_SETTINGS for a name without settings,
 * PLUGIN_DUPLICATE for a name that a module also provides.
 */
export function findBuiltIns<Name extends string>(
  site: NamingSite,
  names: readonly string[],
  known: readonly Name[],
  kinds: readonly Kind[],
  pointerOf: (index: number) => string = (index) => `/name/${index}`,
): ReadonlyMap<number, NamedBuiltIn<Name>> {
  const { config } = site;
  const modules = site.takeAll(handlers).filter((entry) => kinds.some((kind) => entry[kind]));
  const own = ['name', ...known];
  refuseMisspelled(site, own, [...own, ...names, ...modules.map(({ name }) => name)]);
  const results = new Map<number, NamedBuiltIn<Name>>();
  for (const name of known) {
    const index = names.indexOf(name);
    const isConfigured = Object.hasOwn(config, name);
    if (index < 0) {
      if (isConfigured) {
        site.warn('PLUGIN_UNUSED', `/${name}`, `"${name}" is not in "name": its settings have no effect`, {
          hint: `"name": ${JSON.stringify([...names, name])}`,
        });
      }
      continue;
    }
    if (!isConfigured) {
      throw site.fault('PLUGIN_SETTINGS', pointerOf(index), `the built-in plugin "${name}" has no settings`, {
        hint: `add "${name}": {…} to the object that lists it in "name"`,
      });
    }
    const module = modules.find((entry) => entry.name === name);
    if (module) {
      const pointer = pointerOf(index);
      throw site.fault(
        'PLUGIN_DUPLICATE',
        pointer,
        `the built-in plugin "${name}" is also provided by ${module.file}`,
        {
          hint: 'rename the module in the file',
        },
      );
    }
    results.set(index, { name, pointer: `/${name}`, settings: config[name] });
  }
  return results;
}

/** Finds the modules of the other names, by position. @throws the ConfigErrors of `findNamed`. */
export function findModules(
  site: NamingSite,
  names: readonly string[],
  builtIns: ReadonlyMap<number, unknown>,
  kinds: readonly Kind[],
  pointerOf: (index: number) => string = (index) => `/name/${index}`,
): ReadonlyMap<number, Named> {
  const positions = [...names.keys()].filter((index) => !builtIns.has(index));
  const theirs = positions.map((index) => names[index]!);
  const found = findNamed(site, theirs, kinds, (at) => pointerOf(positions[at]!));
  return new Map(found.map((named, at) => [positions[at]!, named]));
}

/** Any name may have settings, but an unlisted key that is similar to a known name is probably misspelled. */
function refuseMisspelled(site: NamingSite, own: readonly string[], all: readonly string[]): void {
  for (const key of Object.keys(site.config)) {
    if (all.includes(key) || /^[@$_#]/.test(key)) continue;
    const near = findNear(key, own);
    if (!near) continue;
    throw site.fault('PLUGIN_FIELD', joinPointer('', key), `'${key}' is not listed in any "name"`, {
      hint: `did you mean "${near.name}"?`,
      fix: near.isSure ? { key: near.name } : undefined,
    });
  }
}
