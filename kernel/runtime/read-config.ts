import { type DataObject, isObject } from '#contract';
import {
  changedIn,
  type Normalized,
  normalizeInBatches,
  normalizeInSlices,
  renormalize,
  type Understood,
  underEnvironment,
} from '../config/index.ts';
import type { LoadedPlugins } from '../registry/loading/plugin-loader.ts';
import { loadNamed } from '../registry/named.ts';
import type { Registry } from '../registry/registry.ts';
import { ReadFiles } from './read-files.ts';
import type { Runtime } from './runtime.ts';
import { shareWith } from './shared-config.ts';

/** What the command line adds to a configuration. */
export interface Overrides {
  /** Replaces the configured port; 0 for any free port. */
  readonly port?: number;
  /** Enables `/__debug/`. */
  readonly debug?: boolean;
  /** A folder with plugins, besides that of the document. */
  readonly plugins?: string;
}

/** A document checked and completed, and the plugins that it may name: those of the release and those of its files. */
export interface ReadConfig extends Normalized {
  readonly registry: Registry;
  /** What a later one may be compared with; null where there are mistakes. */
  readonly understood: Understood | null;
}

/**
 * A registry with the plugins that a document names, loaded: those of the release, and those of its files.
 * @param document with the environment over it.
 * @param folder as of `Overrides.plugins`.
 */
export async function registryFor(
  document: unknown,
  folder: string | undefined,
  registry: Registry,
  files: ReadFiles,
): Promise<Omit<LoadedPlugins, 'plugins'> & { readonly registry: Registry }> {
  const settings = isObject(document) ? document['plugin'] : undefined;
  const isTaken = (name: string) => Object.hasOwn(registry.catalogue.plugins, name);
  const { plugins, errors, warnings } = await registry.loader.load(settings, folder, files, isTaken);
  const extended = registry.with(plugins, errors.length === 0);
  await loadNamed(document, extended);
  return { registry: extended, errors, warnings };
}

/**
 * The document with the environment and the command line over it, checked and completed; its plugins are loaded.
 * @param files reads the plugins that come from files. Default: reads them anew.
 * @param before what serves: what has not changed is taken from it. Default: nothing is.
 */
export async function readConfig(
  data: unknown,
  overrides: Overrides,
  registry: Registry,
  files = new ReadFiles(),
  before: Runtime | null = null,
): Promise<ReadConfig> {
  const { env } = process;
  const read = before?.understood && (await readChanges(data, overrides, registry, files, before, before.understood));
  if (read) return read;
  const known = await registryFor(underEnvironment(data, env), overrides.plugins, registry, files);
  const options = { ...overrides, env, known: known.registry };
  const normalized = await (before ? normalizeInBatches(data, options) : normalizeInSlices(data, options));
  const errors = [...normalized.errors, ...known.errors];
  const isGood = before !== null && errors.length === 0;
  const config = isGood ? await shareWith(before.config, normalized.config) : normalized.config;
  return {
    ...normalized,
    config,
    errors,
    warnings: [...normalized.warnings, ...known.warnings],
    registry: isGood && before.registry.standsInFor(known.registry) ? before.registry : known.registry,
    understood: errors.length === 0 ? { ...normalized, config, data: data as DataObject } : null,
  };
}

/** As `readConfig`, where only endpoints have changed; null where more has, or there are mistakes. */
async function readChanges(
  data: unknown,
  overrides: Overrides,
  registry: Registry,
  files: ReadFiles,
  before: Runtime,
  understood: Understood,
): Promise<ReadConfig | null> {
  const { env } = process;
  const changes = changedIn(data, understood);
  if (!changes) return null;
  const known = await registryFor(underEnvironment(changes.document, env), overrides.plugins, registry, files);
  if (known.errors.length > 0 || !before.registry.standsInFor(known.registry)) return null;
  const normalized = await renormalize(changes, understood, { ...overrides, env, known: before.registry });
  return (
    normalized && {
      ...normalized,
      warnings: [...normalized.warnings, ...known.warnings],
      registry: before.registry,
      understood: { ...normalized, data: data as DataObject },
    }
  );
}
