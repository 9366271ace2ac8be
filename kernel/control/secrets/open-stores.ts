import { ConfigError, type DataObject, isObject, type Namespace, type SecretStore } from '#contract';
import { canonicalJson, joinPointer, type SecretReference } from '../../config/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import type { Registry } from '../../registry/registry.ts';
import { build } from '../../runtime/build/build.ts';
import type { BuildContext } from '../../runtime/build/config-build.ts';
import { Phases } from '../../runtime/build/phases.ts';
import { readConfig } from '../../runtime/build/read-config.ts';
import type { ReadFiles } from '../../runtime/prints/read-files.ts';
import type { Runtime } from '../../runtime/runtime.ts';

/** A secret store with the identity of its settings. Stores with the same identity return the same secrets. */
export interface OpenStore {
  readonly store: SecretStore;
  readonly identity: string;
}

/** The stores that a document refers to, open. */
export interface OpenStores {
  /** All secret stores, by URL scheme. */
  readonly all: ReadonlyMap<string, OpenStore>;
  of(scheme: string): OpenStore;
  /** Releases the resources of all stores. */
  close(): Promise<void>;
}

/**
 * Opens the stores of references: builds a configuration that contains nothing but their components.
 * @param registry with the plugins that the document names. @param files reads the files that the stores use.
 * @throws ConfigErrors SECRET_STORE, SECRET_CYCLE, and the errors of the components.
 */
export async function openStores(
  document: DataObject,
  references: readonly SecretReference[],
  registry: Registry,
  context: BuildContext,
  files: ReadFiles,
  signal: AbortSignal,
): Promise<OpenStores> {
  const given = isObject(document['extra_config']) ? document['extra_config'] : {};
  const names = new Map(references.map(({ scheme }) => [scheme, registry.secretStore(scheme)!]));
  demandNoCycle(references, names);
  const extra = Object.fromEntries([...names.values()].map((name) => [name, settingsOf(given, name)]));
  const known = registry.named();
  const read = await readConfig({ version: 3, extra_config: extra }, {}, known, files);
  const phases = new Phases(() => {}, signal);
  const runtime = await built(
    () => build(read, files, { ...context, registry: known }, 0, phases),
    given,
    names,
    references,
  );
  const stores = storesOf(runtime, names, extra);
  return {
    all: stores,
    of: (scheme) => stores.get(scheme)!,
    close: async () => {
      await runtime.retire((error) =>
        context.registry.services.log.error(() => `failed to close a store of secrets: ${error}`),
      );
    },
  };
}

function settingsOf(given: DataObject, name: Namespace): DataObject {
  return Object.hasOwn(given, name) && isObject(given[name]) ? given[name] : {};
}

/** @throws ConfigErrors SECRET_CYCLE for references in the settings of stores. */
function demandNoCycle(references: readonly SecretReference[], names: ReadonlyMap<string, Namespace>): void {
  const settings = [...names.values()].map((name) => joinPointer('', 'extra_config', name));
  const cyclic = references.filter(({ pointer }) => settings.some((at) => pointer.startsWith(`${at}/`)));
  if (cyclic.length === 0) return;
  throw new ConfigErrors(
    cyclic.map(({ id, pointer, within }) => {
      const message = `\${${id}} cannot be used in the settings of a store of secrets`;
      const hint = 'Use a file, or an environment variable with GATEWAY_ENV_INTERPOLATION=1.';
      return new ConfigError('SECRET_CYCLE', pointer, message, { within, hint });
    }),
  );
}

/** Builds the stores. Errors of a store without settings are reported at the reference to it. */
async function built(
  make: () => ReturnType<typeof build>,
  given: DataObject,
  names: ReadonlyMap<string, Namespace>,
  references: readonly SecretReference[],
): Promise<Runtime> {
  try {
    const { runtime } = await make();
    return runtime;
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    const absent = references.filter(({ scheme }) => !Object.hasOwn(given, names.get(scheme)!));
    const errors = error.errors.filter(({ pointer }) => isWritten(pointer, given));
    if (errors.length === error.errors.length) throw error;
    throw new ConfigErrors([...errors, ...absent.map((reference) => missing(reference, names.get(reference.scheme)!))]);
  }
}

/** False for a pointer within a component that the document does not contain. */
function isWritten(pointer: string, given: DataObject): boolean {
  const [, field, name = ''] = pointer.split('/');
  return field !== 'extra_config' || Object.keys(given).some((own) => joinPointer('', own) === `/${name}`);
}

function missing({ id, pointer, within }: SecretReference, name: Namespace): ConfigError {
  const message = `\${${id}} requires the component "${name}" in extra_config at the root`;
  return new ConfigError('SECRET_STORE', pointer, message, { within, hint: `Add the settings of "${name}".` });
}

/** @throws ConfigErrors SECRET_STORE for a plugin that attaches no store. */
function storesOf(
  { compiled }: Runtime,
  names: ReadonlyMap<string, Namespace>,
  extra: DataObject,
): ReadonlyMap<string, OpenStore> {
  const stores = new Map<string, OpenStore>();
  for (const [scheme, name] of names) {
    const found = compiled.service.find(({ plugin, at }) => plugin.name === name && at.secrets);
    if (!found) {
      const message = `plugin "${name}" does not provide a store of secrets for "${scheme}"`;
      throw new ConfigErrors([new ConfigError('SECRET_STORE', joinPointer('', 'extra_config', name), message)]);
    }
    const identity = `${name} ${found.plugin.source?.hash ?? ''} ${canonicalJson(extra[name]!)}`;
    stores.set(scheme, { store: found.at.secrets!, identity });
  }
  return stores;
}
