import { hash } from 'node:crypto';
import { dirname, join, relative, resolve } from 'node:path';
import { LRUCache } from 'lru-cache';
import { type Catalogue, ConfigError, isObject, type Plugin, type PluginSource } from '#contract';
import { PositionedError } from '../../config/index.ts';
import { rememberFiles } from '../isolation/served-files.ts';
import { startThread } from '../isolation/session.ts';
import { IsolatedThread } from '../isolation/thread.ts';
import { FailedFiles, isUnchanged } from './failed-files.ts';
import type { FileReader } from './file-reader.ts';
import { evaluateGuarded } from './guarded-evaluation.ts';
import { noteInstance } from './instance-parts.ts';
import { LoadWatch } from './load-watch.ts';
import { ModuleGraph } from './module-graph.ts';
import { packageEntry } from './packages.ts';
import { wrongWith } from './plugin-check.ts';
import { COMPILED, compiledPlugins, nothingIn, sourcesAmong, unreadableFolder } from './plugin-folder.ts';
import { sourceError } from './source-error.ts';

/** The valid part of the root field `plugin`. */
interface PluginSettings {
  readonly folder?: string;
  readonly pattern?: string;
  readonly packages?: readonly string[];
}

/** A reference to a plugin's file, in the configuration or on the command line. */
interface Entry {
  readonly file: string;
  /** Pointer to the reference; empty for the command line. */
  readonly pointer: string;
}

/** Plugins loaded from the files of a configuration. */
export interface LoadedPlugins {
  readonly plugins: readonly Plugin[];
  readonly errors: readonly ConfigError[];
  readonly warnings: readonly ConfigError[];
}

/** Loads the plugins that a configuration names by folder or package. */
export type LoadPlugins = Pick<PluginLoader, 'load'>;

/** The exports of one file, and the content they belong to. */
interface Instance {
  readonly plugins: readonly Plugin[];
  /** Paths of all files of the module, each with the SHA-256 of its content. */
  readonly hashes: ReadonlyMap<string, string>;
}

/** Time limit for the evaluation of a plugin's file, in milliseconds. */
const LOAD_MS = 10_000;
/** Time in which the same content of a file that threw is not evaluated again, in milliseconds. */
const RETRY_MS = 1000;
/** Maximum number of cached instances: one per file, of the newest content. */
const REMEMBERED = 500;

/**
 * Loads plugins from files. A file is evaluated once per content: as long as it and everything it imports by relative
 * paths stay the same, so does the instance. An instance of older content is held only by the configurations that use
 * it.
 * Codes: PLUGIN_FOLDER, PLUGIN_PACKAGE, PLUGIN_LOAD, PLUGIN_INVALID, PLUGIN_DUPLICATE, PLUGIN_NAME; PLUGIN_NONE as a
 * warning.
 */
export class PluginLoader {
  readonly #adapt: Catalogue['adapt'];
  readonly #loadMs: number;
  readonly #instances = new LRUCache<string, Instance>({ max: REMEMBERED });
  readonly #failed: FailedFiles;
  /**
   * Watches evaluations until the first configuration has been loaded; null afterwards, when plugins are first
   * evaluated in a thread.
   */
  #watch: LoadWatch | null;

  /**
   * @param adapt see `Catalogue`. @param loadMs time limit for the evaluation of one file.
   * @param retryMs time after which the same content of a file that threw is evaluated again.
   */
  constructor(adapt: Catalogue['adapt'] = undefined, loadMs = LOAD_MS, retryMs = RETRY_MS) {
    this.#adapt = adapt;
    this.#loadMs = loadMs;
    this.#watch = new LoadWatch(loadMs);
    this.#failed = new FailedFiles(REMEMBERED, retryMs);
  }

  /**
   * @param settings the document's `plugin`, not validated yet.
   * @param folder a folder named on the command line.
   * @param files reads the files, and records those to watch.
   * @param isTaken returns true for the name of a built-in plugin.
   */
  async load(
    settings: unknown,
    folder: string | undefined,
    files: FileReader,
    isTaken: (name: string) => boolean,
  ): Promise<LoadedPlugins> {
    const errors: ConfigError[] = [];
    const warnings: ConfigError[] = [];
    const plugins = new Map<string, Plugin>();
    const empty: Entry[] = [];
    const imported = new Set<string>();
    for (const { file, pointer } of [...this.#entries(settings, folder, files, errors, warnings)]) {
      const instance = await this.#instanceOf(file, pointer, files).catch((error: unknown) => {
        errors.push(error instanceof ConfigError ? error : sourceError(pointer, error, file));
      });
      if (!instance) continue;
      for (const path of instance.hashes.keys()) if (path !== file) imported.add(path);
      if (instance.plugins.length === 0) empty.push({ file, pointer });
      for (const plugin of instance.plugins) {
        const clash = clashOf(plugin, plugins.get(plugin.name), isTaken);
        if (clash) errors.push(new ConfigError(clash.code, pointer, clash.message));
        else plugins.set(plugin.name, plugin);
      }
    }
    // A file without a plugin is not reported if other plugins of the folder import it.
    for (const { file, pointer } of empty) {
      if (!imported.has(file)) warnings.push(new ConfigError('PLUGIN_NONE', pointer, `${file} exports no plugin`));
    }
    await this.#watch?.close();
    this.#watch = null;
    return { plugins: [...plugins.values()], errors, warnings };
  }

  *#entries(
    settings: unknown,
    given: string | undefined,
    files: FileReader,
    errors: ConfigError[],
    warnings: ConfigError[],
  ): Iterable<Entry> {
    const { folder, pattern = '', packages } = (isObject(settings) ? settings : {}) as PluginSettings;
    const folders = [
      { path: folder, pointer: '/plugin/folder', pattern },
      { path: given, pointer: '', pattern: '' },
    ];
    for (const { path, pointer, pattern: part } of folders) {
      if (typeof path !== 'string' || typeof part !== 'string') continue;
      try {
        const names = sourcesAmong(files.list(resolve(path)), part);
        if (names.length === 0) warnings.push(nothingIn(path, pointer, part));
        for (const name of names) yield { file: join(resolve(path), name), pointer };
      } catch (error) {
        errors.push(unreadableFolder(path, pointer, error));
        if (part === COMPILED) warnings.push(compiledPlugins());
      }
    }
    for (const [index, name] of (Array.isArray(packages) ? packages : []).entries()) {
      const pointer = `/plugin/packages/${index}`;
      try {
        yield { file: packageEntry(name, files), pointer };
      } catch (error) {
        errors.push(new ConfigError('PLUGIN_PACKAGE', pointer, (error as Error).message));
      }
    }
  }

  async #instanceOf(file: string, pointer: string, files: FileReader): Promise<Instance> {
    const known = this.#instances.get(file);
    if (known && isUnchanged(known.hashes, files)) return known;
    return this.#failed.load(file, pointer, files, async (noting) => {
      return (await this.#isolated(file, pointer, noting)) ?? (await this.#evaluated(file, pointer, noting));
    });
  }

  async #evaluated(file: string, pointer: string, files: FileReader): Promise<Instance> {
    const graph = new ModuleGraph(file, files);
    try {
      const exports = await evaluateGuarded(graph, file, this.#loadMs, this.#watch);
      const hashes = new Map(graph.files.map((path) => [path, hash('sha256', files.read(path))]));
      const written = (await this.#adapted(exports, file, pointer)) ?? checkedIn(exports, file, pointer);
      const source = sourceOf(file, hashes);
      noteInstance(source, graph.parts);
      const instance = { plugins: written.map((plugin) => Object.freeze({ ...plugin, source })), hashes };
      this.#instances.set(file, instance);
      return instance;
    } catch (error) {
      throw error instanceof ConfigError && error.pointer === pointer
        ? error
        : sourceError(pointer, error, file, graph.files);
    }
  }

  /**
   * The plugin of a module that requests isolation: a thread evaluates the module to read its manifest, and ends; the
   * module is never imported here. Undefined for any other module. While requests may be waiting, a thread evaluates
   * every changed module first, so that a module that never returns does not delay requests.
   */
  async #isolated(file: string, pointer: string, files: FileReader): Promise<Instance | undefined> {
    if (this.#watch && !MAY_BE_ISOLATED.test(textOf(file, files))) return undefined;
    const { isolation } = (await this.#adapt?.()) ?? {};
    if (!isolation) return undefined;
    const remembered = rememberFiles(files);
    const options = { entry: file, guest: isolation.guest, files: remembered, loadMs: this.#loadMs };
    const session = startThread(options, null);
    try {
      const { manifest, files: paths } = await session.loaded;
      if (manifest === undefined) return undefined;
      const hashes = new Map(paths.map((path) => [path, hash('sha256', files.read(path))]));
      remembered.seal();
      const plugin = isolation.adapt(new IsolatedThread(manifest, options), file);
      const source: PluginSource = Object.freeze({ ...sourceOf(file, hashes), isIsolated: true });
      const instance = { plugins: [Object.freeze({ ...plugin, source })], hashes };
      this.#instances.set(file, instance);
      return instance;
    } catch (error) {
      throw error instanceof PositionedError || !(error instanceof ConfigError)
        ? sourceError(pointer, error, file)
        : error.at(pointer);
    } finally {
      await session.end();
    }
  }

  /** The plugin of a module that was written for another gateway. @throws ConfigError see `AdaptModule`. */
  async #adapted(
    exports: Readonly<Record<string, unknown>>,
    file: string,
    pointer: string,
  ): Promise<readonly Plugin[] | undefined> {
    const { adapt } = (await this.#adapt?.()) ?? {};
    try {
      const plugin = adapt?.(exports, file);
      return plugin && [plugin];
    } catch (error) {
      throw error instanceof ConfigError ? error.at(pointer) : error;
    }
  }
}

/** Matches the text of a file whose module may request isolation. */
const MAY_BE_ISOLATED = /\bisolate\b/;

/** The content of an unreadable file counts as empty here; the module that imports the file reports the error. */
function textOf(file: string, files: FileReader): string {
  try {
    return Buffer.from(files.read(file)).toString('latin1');
  } catch {
    return '';
  }
}

function sourceOf(file: string, hashes: ReadonlyMap<string, string>): PluginSource {
  const files = [...hashes.keys()];
  const sum = files.map((path) => `${relative(dirname(file), path)} ${hashes.get(path)}`).sort();
  return Object.freeze({ file, hash: hash('sha256', sum.join('\n')), files });
}

/** @throws ConfigError PLUGIN_INVALID. */
function checkedIn(exports: Readonly<Record<string, unknown>>, file: string, pointer: string): readonly Plugin[] {
  const exported = exports['plugin'] ?? exports['plugins'] ?? exports['default'];
  if (exported === undefined) return [];
  return (Array.isArray(exported) ? exported : [exported]).map((each: unknown) => {
    const wrong = wrongWith(each);
    if (wrong !== null) throw new ConfigError('PLUGIN_INVALID', pointer, `${file}: ${wrong}`);
    return each as Plugin;
  });
}

function clashOf(
  { name, source }: Plugin,
  other: Plugin | undefined,
  isTaken: (name: string) => boolean,
): { code: string; message: string } | null {
  if (isTaken(name)) {
    return { code: 'PLUGIN_NAME', message: `${source!.file}: the gateway already has a plugin named "${name}"` };
  }
  if (!other) return null;
  const message = `${source!.file}: plugin "${name}" is already defined in ${other.source!.file}`;
  return { code: 'PLUGIN_DUPLICATE', message };
}
