import { type ConfigError, copyData, type Data, type DataObject, findNear, isObject, setKey } from '#contract';
import { type Handlers, handlers, type Kind, kindNames, type OfferedHandlers } from './handlers.ts';
import type { HostSite } from './host.ts';

/** Plugins that KrakenD includes, by kind, each with the alternative to use. */
const builtIns: Readonly<Partial<Record<Kind, Readonly<Record<string, string>>>>> = {
  httpClient: {
    'http-logger': '"telemetry/logging" on the backend writes such lines',
  },
};

/** A configured name and the handlers found for it. */
export interface Named {
  readonly entry: OfferedHandlers;
  /** Pointer to the name, relative to the configuration. */
  readonly pointer: string;
  /** Settings of the name, with defaults; undefined for none. */
  readonly settings: Data | undefined;
}

/** Site whose configuration lists names and their settings. */
export type NamingSite = HostSite<{ readonly [key: string]: unknown }>;

/**
 * Finds the handlers that a configuration lists.
 * @param pointerOf returns the pointer to a name, by position.
 * @throws ConfigError PLUGIN_UNKNOWN, PLUGIN_SETTINGS, CONFIG_NOT_SUPPORTED.
 */
export function findNamed(
  site: NamingSite,
  names: readonly string[],
  kinds: readonly Kind[],
  pointerOf: (index: number) => string = (index) => `/name/${index}`,
): Named[] {
  const all = site.takeAll(handlers).filter((entry) => kinds.some((kind) => entry[kind]));
  warnOfUnused(site, names, all);
  return names.map((name, index) => {
    const entry = all.find((each) => each.name === name);
    if (!entry) throw unknownName(site, name, kinds, all, pointerOf(index));
    return { entry, pointer: pointerOf(index), settings: settingsOf(site, entry) };
  });
}

function unknownName(
  site: NamingSite,
  name: string,
  kinds: readonly Kind[],
  known: readonly OfferedHandlers[],
  pointer: string,
): Error {
  const builtIn = refuseBuiltIn(site, name, kinds, pointer);
  if (builtIn) return builtIn;
  const kind = kindNames[kinds[0]!];
  const names = [...new Set(known.map((entry) => entry.name))];
  const near = findNear(name, names);
  const list = names.map((each) => `"${each}"`).join(', ');
  const hint = near
    ? `did you mean "${near.name}"?`
    : list === ''
      ? `load the module that provides it: "plugin": {"folder": "./plugins/", "pattern": ".js"} at the root`
      : `one of ${list}`;
  return site.fault('PLUGIN_UNKNOWN', pointer, `no loaded plugin provides the ${kind} "${name}"`, {
    hint,
    fix: near?.isSure ? { value: near.name } : undefined,
  });
}

/** Warns about settings whose name is not listed. */
function warnOfUnused(site: NamingSite, names: readonly string[], known: readonly OfferedHandlers[]): void {
  for (const key of Object.keys(site.config)) {
    if (names.includes(key) || !isObject(site.config[key] as Data) || !known.some(({ name }) => name === key)) continue;
    site.warn('PLUGIN_UNUSED', `/${key}`, `"${key}" is not in "name": its settings have no effect`, {
      hint: `"name": ${JSON.stringify([...names, key])}`,
    });
  }
}

/** Returns the validated settings of a name, with defaults. @throws ConfigError PLUGIN_SETTINGS */
export function settingsOf(site: NamingSite, { name, file, checkSettings }: Handlers): Data | undefined {
  const written = Object.hasOwn(site.config, name) ? (site.config[name] as Data) : undefined;
  if (!checkSettings) return written;
  const settings = written === undefined ? {} : copyData(written);
  const issue = checkSettings(settings);
  if (!issue) return settings;
  const pointer =
    written === undefined ? '/name' : `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}${issue.pointer}`;
  const place = issue.pointer === '' ? 'settings' : issue.pointer.slice(1).replaceAll('/', '.');
  throw site.fault('PLUGIN_SETTINGS', pointer, `settings of plugin "${name}": ${place} ${issue.message}`, {
    hint: `the schema is in ${file}`,
  });
}

/** Returns the whole namespace, with the defaults of the name's settings. */
export function wholeConfig({ config }: NamingSite, { entry, settings }: Named): DataObject {
  const whole: DataObject = {};
  for (const [key, value] of Object.entries(config)) setKey(whole, key, value as Data);
  if (settings !== undefined) setKey(whole, entry.name, settings);
  return whole;
}

/** Creates the error for a plugin of KrakenD that this release does not include; undefined for any other name. */
function refuseBuiltIn(site: HostSite, name: string, kinds: readonly Kind[], pointer: string): ConfigError | undefined {
  const known = kinds.map((kind) => builtIns[kind]).find((names) => names && Object.hasOwn(names, name));
  if (!known) return undefined;
  return site.fault('CONFIG_NOT_SUPPORTED', pointer, `the built-in plugin "${name}" is not supported yet`, {
    hint: known[name],
  });
}
