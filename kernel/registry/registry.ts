import type {
  Catalogue,
  Compatibility,
  Discovery,
  Encoding,
  Level,
  Namespace,
  Place,
  Plugin,
  PluginSource,
  Services,
} from '#contract';
import { type KnownPlugins, nothingKnown } from '../config/index.ts';
import { type Container, createProcessContainer, openScope, type PlaceScope } from './container.ts';
import { type LoadPlugins, PluginLoader } from './loading/plugin-loader.ts';
import { servedPlugins } from './loading/served-plugins.ts';

/** A plugin that came from a file. */
export type FilePlugin = Plugin & { readonly source: PluginSource };

/** Maps namespaces to plugins, which are loaded on first use and kept for the life of the process. */
export class Registry implements KnownPlugins {
  readonly catalogue: Catalogue;
  /** Loads plugins from files, for all registries of the process. */
  readonly loader: LoadPlugins;
  /** False if plugins are missing because they could not be loaded. */
  isWhole = true;
  readonly #container: Container;
  readonly #loaded = new Map<Namespace, Plugin>();
  /** Encodings used so far, by name. */
  readonly #encodings = new Map<string, Encoding>();
  /** Plugins in addition to the plugins of the registry from which this one is derived. */
  #given: readonly Plugin[] = [];

  /** @param loader of the registry that this one is derived from. */
  constructor(catalogue: Catalogue, services: Services, loader: LoadPlugins = new PluginLoader(catalogue.adapt)) {
    this.catalogue = catalogue;
    this.loader = loader;
    this.#container = createProcessContainer(catalogue, services);
  }

  /**
   * Derives a registry with additional plugins; it lives as long as the configurations that use it.
   * @param isWhole false if some could not be loaded.
   */
  with(plugins: readonly Plugin[], isWhole: boolean): Registry {
    if (plugins.length === 0 && isWhole) return this;
    const extended = new Registry(withPlugins(this.catalogue, plugins), this.services, this.loader);
    extended.isWhole = isWhole;
    extended.#given = [...this.#given, ...plugins];
    for (const [name, plugin] of this.#loaded) extended.#loaded.set(name, plugin);
    return extended;
  }

  /**
   * Derives a registry for inspecting configurations without evaluating any file: plugins from files are those of a
   * serving registry.
   * @param settings the root field `plugin` that loaded them.
   */
  closed(serving: Registry, settings: unknown): Registry {
    const closed = new Registry(this.catalogue, this.services, servedPlugins({ settings, plugins: serving.#given }));
    for (const [name, plugin] of this.#loaded) closed.#loaded.set(name, plugin);
    return closed;
  }

  /**
   * Replaces another registry that was derived from the same one and has the same plugins with the same content. Reuses
   * the plugins that the other one has loaded.
   * @returns false if the plugins differ.
   */
  replaces(other: Registry): boolean {
    if (this === other) return true;
    const isOwn = (plugin: Plugin, at: number) => plugin === other.#given[at];
    if (!this.isWhole || !other.isWhole || this.#given.length !== other.#given.length) return false;
    if (!this.#given.every(isOwn)) return false;
    const missing = [...other.#loaded].filter(([name, plugin]) => this.#loaded.get(name) !== plugin);
    // A registry that has loaded other plugins is not replaced, because loading a plugin from a file has visible
    // effects.
    if (missing.some(([name, { source }]) => source !== undefined || this.#loaded.has(name))) return false;
    for (const [name, plugin] of missing) this.#loaded.set(name, plugin);
    return true;
  }

  /** Every namespace that a configuration may name, aliases included. */
  get namespaces(): readonly Namespace[] {
    const { plugins, always = [] } = this.catalogue;
    const isNamed = (name: Namespace) => !always.includes(name) || (this.#loaded.get(name)?.places?.length ?? 0) > 0;
    return Object.keys(plugins).filter(isNamed);
  }

  /** True if the registry has plugins from files, even if they could not be loaded. */
  get hasFilePlugins(): boolean {
    return this.#given.length > 0;
  }

  /** Plugins from files that are loaded. */
  get fromFiles(): readonly FilePlugin[] {
    return [...new Set(this.#loaded.values())].filter((plugin): plugin is FilePlugin => plugin.source !== undefined);
  }

  /** Plugins from files that are attached to every service, even if no configuration names them. */
  get unnamed(): readonly FilePlugin[] {
    return this.fromFiles.filter(({ name, places }) => this.catalogue.always?.includes(name) && !places?.length);
  }

  hasHandler(name: string): boolean {
    return this.#given.some(({ handlers }) => handlers?.includes(name));
  }

  get compatibility(): Compatibility {
    return this.catalogue.compatibility ?? nothingKnown.compatibility;
  }

  /** Services passed to plugins by `site.use`. */
  get services(): Services {
    return this.#container.cradle;
  }

  /** Opens a scope for the values that the components of one configuration offer to each other. */
  openScope(): PlaceScope {
    return openScope(this.#container);
  }

  /** Loads the plugins of these namespaces, the plugins whose values they take, and the plugins that they are converted to; unknown namespaces are skipped. */
  async load(namespaces: Iterable<Namespace>): Promise<void> {
    const missing = [...new Set(namespaces)].filter(
      (name) => Object.hasOwn(this.catalogue.plugins, name) && !this.#loaded.has(name),
    );
    await Promise.all(
      missing.map(async (namespace) => {
        const plugin = await this.#container.resolve<Promise<Plugin>>(`plugin:${namespace}`);
        this.#loaded.set(namespace, plugin);
        const { takes = [], becomes = [] } = plugin;
        await this.load([...takes.flatMap(({ from }) => from ?? []), ...becomes]);
      }),
    );
  }

  /** A loaded plugin; undefined if the catalog has none with that name. */
  plugin(namespace: Namespace): Plugin | undefined {
    return this.#loaded.get(namespace);
  }

  /** Place of a loaded plugin at a level. */
  place<L extends Level>(namespace: Namespace, level: L): Extract<Place, { at: L }> | undefined {
    const places = this.#loaded.get(namespace)?.places;
    return places?.find((place): place is Extract<Place, { at: L }> => place.at === level);
  }

  /** The names of a family's members, as in `json` for `encoding/json`. */
  names(family: string): string[] {
    return this.namespaces.filter((name) => name.startsWith(`${family}/`)).map((name) => name.slice(family.length + 1));
  }

  /** The encoding of a loaded `encoding/<name>` plugin. */
  encoding(name: string): Encoding | undefined {
    // Cached, because this function is called several times for each backend.
    const known = this.#encodings.get(name);
    if (known) return known;
    const encoding = this.#loaded.get(`encoding/${name}`)?.encodings?.find((each) => each.name === name);
    if (encoding) this.#encodings.set(name, encoding);
    return encoding;
  }

  /** The discovery of a loaded `discovery/<name>` plugin. */
  discovery(name: string): Discovery | undefined {
    return this.#loaded.get(`discovery/${name}`)?.discoveries?.find((discovery) => discovery.name === name);
  }

  /** The plugin with the store of secrets of a scheme; undefined for an unknown scheme. */
  secretStore(scheme: string): Namespace | undefined {
    const { plugins, secretStores = {} } = this.catalogue;
    if (Object.hasOwn(plugins, `secrets/${scheme}`)) return `secrets/${scheme}`;
    return Object.hasOwn(secretStores, scheme) ? secretStores[scheme] : undefined;
  }

  /** All schemes of references to secrets. */
  get secretSchemes(): readonly string[] {
    return [...this.names('secrets'), ...Object.keys(this.catalogue.secretStores ?? {})];
  }

  /** Derives a registry that attaches only the components that a configuration names. */
  named(): Registry {
    const named = new Registry({ ...this.catalogue, always: [] }, this.services, this.loader);
    named.#given = this.#given;
    for (const [name, plugin] of this.#loaded) named.#loaded.set(name, plugin);
    return named;
  }

  /** Disposes of the process's resources. */
  async close(): Promise<void> {
    await this.#container.dispose();
  }
}

/** Creates a catalog with additional plugins. Those that declare `always` are attached to every service. */
export function withPlugins(catalogue: Catalogue, plugins: readonly Plugin[]): Catalogue {
  const added = plugins.map((plugin) => [plugin.name, async () => ({ plugin })] as const);
  const always = plugins.filter((plugin) => plugin.always).map(({ name }) => name);
  const stores = plugins.flatMap(({ name, secretSchemes = [] }) => secretSchemes.map((scheme) => [scheme, name]));
  const withCommands = plugins.filter(({ commands }) => commands).map(({ name }) => name);
  return {
    ...catalogue,
    plugins: { ...catalogue.plugins, ...Object.fromEntries(added) },
    always: [...(catalogue.always ?? []), ...always],
    secretStores: { ...catalogue.secretStores, ...Object.fromEntries(stores) },
    ...(catalogue.commands && { commands: [...catalogue.commands, ...withCommands] }),
  };
}

/**
 * Name under which values that a plugin keeps across reloads are stored. For a plugin from a file, it contains the hash
 * of the file, or the version of its state that the plugin declares.
 */
export function ownerOf({ name, source, keeps }: Plugin): string {
  if (!source) return name;
  return keeps === undefined ? `${name}@${source.hash}` : `${name} keeps ${keeps}`;
}
