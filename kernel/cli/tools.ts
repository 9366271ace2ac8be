import type { Services } from '#contract';
import { type Document, type IsSecret, notReported, readDocument, type SecretValues } from '../config/index.ts';
import { ConfigErrors, DeniedAddresses, silentEvents, silentLog, silentSinks } from '../contract/internal.ts';
import { fetchForCheck } from '../control/secrets/fetch-for-check.ts';
import { createPatterns } from '../patterns/patterns.ts';
import { Registry } from '../registry/registry.ts';
import { secretsKnownTo } from '../registry/secrets.ts';
import { type Examined, examine } from '../runtime/build/build.ts';
import { registryFor } from '../runtime/build/read-config.ts';
import { ReadFiles } from '../runtime/prints/read-files.ts';
import { version } from '../version.ts';
import type { CommandContext } from './command.ts';

/** Tools for examining configurations. */
export interface Tools {
  /** Plugin registry for the most recently examined document; before the first one, the registry of built-in plugins. */
  readonly registry: Registry;
  /**
   * Returns a registry that includes the plugins a document refers to.
   * @param demanding false to ignore plugins that cannot be loaded. @throws ConfigErrors for them otherwise.
   */
  registryOf(data: unknown, demanding?: boolean): Promise<Registry>;
  /** Decides which values are secrets, from the schemas of all components seen so far. */
  readonly isSecret: IsSecret;
  /**
   * Examines a configuration without activating it. @param reading whether to also read the files that the configuration refers to.
   */
  examine(data: unknown, reading: boolean): Promise<Examined>;
  /**
   * Reads a file and finds all errors of its configuration.
   * @param fetching whether to also fetch the secrets that the configuration refers to.
   * @throws ConfigErrors when it cannot be read or parsed.
   */
  examineFile(file: string, reading: boolean, fetching?: boolean): Promise<Examined & { readonly document: Document }>;
}

/** Runs a function with the components of a catalogue, which are released at the end. */
export async function withTools<T>(
  { catalogue, plugins }: Pick<CommandContext, 'catalogue' | 'plugins'>,
  use: (tools: Tools) => Promise<T>,
): Promise<T> {
  const base = new Registry(catalogue, toolServices());
  let registry = base;
  const met = (examined: Examined): Examined => {
    registry = examined.registry;
    return examined;
  };
  const examineData = async (data: unknown, reading: boolean, secrets?: SecretValues) =>
    met(await examine(data, { ...(plugins !== undefined && { plugins }) }, base, reading, secrets));
  const registryOf = async (data: unknown, demanding = true) => {
    const known = await registryFor(data, plugins, base, new ReadFiles());
    if (demanding && known.errors.length > 0) throw new ConfigErrors(known.errors);
    registry = known.registry;
    return registry;
  };
  try {
    return await use({
      get registry() {
        return registry;
      },
      registryOf,
      isSecret: (pointer, value) => secretsKnownTo(registry)(pointer, value),
      examine: examineData,
      async examineFile(file, reading, fetching = false) {
        const document = await readDocument(file);
        const fetched = fetching ? await fetchForCheck(document.data, plugins, base) : null;
        const examined = await examineData(document.data, reading, fetched?.values);
        const errors = [...examined.errors, ...notReported(fetched?.errors ?? [], examined.errors)];
        return { document, ...examined, errors };
      },
    });
  } finally {
    await base.close();
  }
}

/**
 * Returns the kernel services for a command that does not serve requests. They log nothing, so that the output of the
 * command contains only its result.
 */
export function toolServices(): Services {
  return {
    clock: { now: () => performance.now() },
    log: silentLog,
    sinks: silentSinks,
    events: silentEvents,
    patterns: createPatterns(),
    denied: new DeniedAddresses(),
    readiness: { isDraining: false },
    version,
    sandbox: null,
  };
}
