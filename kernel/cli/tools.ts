import type { Services } from '#contract';
import { type Document, type IsSecret, readDocument } from '../config/index.ts';
import { ConfigErrors, DeniedAddresses, silentEvents, silentLog, silentSinks } from '../contract/internal.ts';
import { createPatterns } from '../patterns/patterns.ts';
import { Registry } from '../registry/registry.ts';
import { secretsKnownTo } from '../registry/secrets.ts';
import { type Examined, examine } from '../runtime/build.ts';
import { registryFor } from '../runtime/read-config.ts';
import { ReadFiles } from '../runtime/read-files.ts';
import { version } from '../version.ts';
import type { CommandContext } from './command.ts';

/** What commands look at configurations with. */
export interface Tools {
  /** That of the document that was looked at last; before one, that of the release. */
  readonly registry: Registry;
  /**
   * With those that a document names too.
   * @param demanding false to go on without those that cannot be loaded. @throws ConfigErrors for these otherwise.
   */
  registryOf(data: unknown, demanding?: boolean): Promise<Registry>;
  /** Knows the schemas of the components that were met so far. */
  readonly isSecret: IsSecret;
  /** As of `examine`, without overrides. @param reading also read the files that the configuration names. */
  examine(data: unknown, reading: boolean): Promise<Examined>;
  /**
   * Reads a file and looks for every mistake of its configuration.
   * @throws ConfigErrors when it cannot be read or parsed.
   */
  examineFile(file: string, reading: boolean): Promise<Examined & { readonly document: Document }>;
}

/**
 * Does something with the components of a catalogue, which are released at the end.
 */
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
  const examineData = async (data: unknown, reading: boolean) =>
    met(await examine(data, { ...(plugins !== undefined && { plugins }) }, base, reading));
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
      async examineFile(file, reading) {
        const document = await readDocument(file);
        return { document, ...(await examineData(document.data, reading)) };
      },
    });
  } finally {
    await base.close();
  }
}

/** The kernel's services for a command that serves nothing: its output is the result alone, so nothing is logged. */
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
  };
}
