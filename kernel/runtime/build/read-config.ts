import { type ConfigError, type DataObject, isObject, type ServiceConfig } from '#contract';
import {
  changedIn,
  errorsWithReferences,
  fillSecrets,
  type IsScheme,
  mayReferToSecrets,
  type Normalized,
  type NormalizeOptions,
  normalizeInBatches,
  normalizeInSlices,
  rememberText,
  renormalize,
  type SecretValues,
  type Understood,
  underEnvironment,
  withTypedReferences,
} from '../../config/index.ts';
import type { LoadedPlugins } from '../../registry/loading/plugin-loader.ts';
import { loadNamed } from '../../registry/named.ts';
import type { Registry } from '../../registry/registry.ts';
import { ReadFiles } from '../prints/read-files.ts';
import type { Runtime } from '../runtime.ts';
import { shareWith } from './shared-config.ts';
import { unknownSchemes } from './unknown-schemes.ts';

/** Command line options that override a configuration. */
export interface Overrides {
  /** Replaces the configured port; 0 for any free port. */
  readonly port?: number;
  /** Enables `/__debug/`. */
  readonly debug?: boolean;
  /** A folder with plugins, in addition to the document's. */
  readonly plugins?: string;
}

/** A document that was checked and completed, and the plugins that it may name: built-in ones and those from its files. */
export interface ReadConfig extends Normalized {
  readonly registry: Registry;
  /** Base of comparison for later documents; null if there are errors. */
  readonly understood: Understood | null;
  /** The configuration with unresolved references to secrets, as in the document; absent if it contains no references. */
  readonly shown?: ServiceConfig;
}

const noValues: SecretValues = new Map();

/**
 * Creates a registry with the plugins that a document names, loaded: built-in ones and those from its files.
 * @param document with environment overrides applied.
 * @param folder see `Overrides.plugins`.
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
 * Applies environment and command line to a document, checks and completes it, and loads its plugins.
 * @param files reads the plugins that come from files. Default: reads them anew.
 * @param before the serving configuration, whose unchanged parts are reused. Default: nothing is reused.
 * @param secrets values of the references to secrets. Errors of values without them are not reported.
 */
export async function readConfig(
  data: unknown,
  overrides: Overrides,
  registry: Registry,
  files = new ReadFiles(),
  before: Runtime | null = null,
  secrets = noValues,
): Promise<ReadConfig> {
  if (!(await mayReferToSecrets(data))) return readFilled(data, overrides, registry, files, before);
  const { env } = process;
  const { registry: known } = await registryFor(underEnvironment(data, env), overrides.plugins, registry, files);
  const isScheme = (scheme: string) => known.secretStore(scheme) !== undefined;
  const filled = await fillSecrets(data, isScheme, secrets);
  const { unfilled, texts } = filled;
  for (const text of texts) rememberText(text);
  const read = await readFilled(filled.data, overrides, registry, files, before);
  const isSound = ({ pointer }: ConfigError) => !unfilled.has(pointer);
  const errors = [...filled.errors, ...errorsWithReferences(read.errors, filled)];
  const options = { ...overrides, env, known };
  const shown = texts.length === 0 ? read.config : await readAsShown(data, isScheme, options);
  const warnings = [...read.warnings.filter(isSound), ...(await unknownSchemes(data, known))];
  return { ...read, errors, warnings, unfilled, shown };
}

/** Normalizes a document with its references as written. */
async function readAsShown(data: unknown, isScheme: IsScheme, options: NormalizeOptions): Promise<ServiceConfig> {
  const { data: unescaped, written } = await fillSecrets(data, isScheme, noValues);
  const { config } = await normalizeInSlices(unescaped, options);
  return withTypedReferences(config, written);
}

/** Same as `readConfig`, without references to secrets. */
async function readFilled(
  data: unknown,
  overrides: Overrides,
  registry: Registry,
  files: ReadFiles,
  before: Runtime | null,
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
    registry: isGood && before.registry.replaces(known.registry) ? before.registry : known.registry,
    understood: errors.length === 0 ? { ...normalized, config, data: data as DataObject } : null,
  };
}

/** Same as `readConfig`, if only endpoints have changed; null if more has changed, or there are errors. */
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
  if (known.errors.length > 0 || !before.registry.replaces(known.registry)) return null;
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
