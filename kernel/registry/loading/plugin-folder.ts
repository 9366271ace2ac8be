import { isAbsolute } from 'node:path';
import { ConfigError } from '#contract';
import { SOURCE_FILE } from './module-graph.ts';

/** Files that may contain a plugin, in alphabetical order, without type declarations and tests. */
export function sourcesAmong(names: readonly string[], part: string): string[] {
  return names
    .filter((name) => SOURCE_FILE.test(name) && !/\.(?:d|test|spec)\.\w+$/.test(name) && name.includes(part))
    .sort();
}

/** Pattern that selects compiled plugins of KrakenD. */
export const COMPILED = '.so';

/** Warning for a pattern whose files cannot be loaded, whether their folder exists or not. */
export function compiledPlugins(): ConfigError {
  const message = `"${COMPILED}" selects compiled plugins, which cannot be loaded`;
  const hint = 'write them as .ts or .js, or remove "plugin" if all plugins in use are built in';
  return new ConfigError('PLUGIN_FOLDER', '/plugin/pattern', message, { hint });
}

/** Warning for a folder without a file that may contain a plugin. */
export function nothingIn(path: string, pointer: string, part: string): ConfigError {
  const hint =
    part === COMPILED
      ? 'compiled plugins of another product cannot be loaded: write them as .ts or .js'
      : whereFrom(path);
  const named = part === '' ? '' : ` whose name contains "${part}"`;
  return new ConfigError(
    'PLUGIN_FOLDER',
    pointer,
    `no plugin in ${path}: the folder has no .ts, .mts, .js or .mjs file${named}`,
    {
      hint,
    },
  );
}

/** Error for a folder that cannot be listed. */
export function unreadableFolder(path: string, pointer: string, error: unknown): ConfigError {
  const message = `cannot read the plugin folder: ${(error as Error).message}`;
  return new ConfigError('PLUGIN_FOLDER', pointer, message, { hint: whereFrom(path) });
}

/** A hint that names the base folder of a relative path; undefined for an absolute path. */
function whereFrom(path: string): string | undefined {
  return isAbsolute(path) ? undefined : `relative paths start at the working directory, ${process.cwd()}`;
}
