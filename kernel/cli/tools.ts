import type { Catalogue, Services } from '#contract';
import { type Document, type IsSecret, readDocument } from '../config/index.ts';
import { DeniedAddresses, silentEvents, silentLog, silentSinks } from '../contract/internal.ts';
import { createPatterns } from '../patterns/patterns.ts';
import { Registry } from '../registry/registry.ts';
import { secretsKnownTo } from '../registry/secrets.ts';
import { type Examined, examine } from '../runtime/build.ts';
import { version } from '../version.ts';

/** What commands look at configurations with. */
export interface Tools {
  readonly registry: Registry;
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

/** Does something with the components of a catalogue, which are released at the end. */
export async function withTools<T>(catalogue: Catalogue, use: (tools: Tools) => Promise<T>): Promise<T> {
  const registry = new Registry(catalogue, toolServices());
  const examineData = (data: unknown, reading: boolean) => examine(data, {}, registry, reading);
  try {
    return await use({
      registry,
      isSecret: secretsKnownTo(registry),
      examine: examineData,
      async examineFile(file, reading) {
        const document = await readDocument(file);
        return { document, ...(await examineData(document.data, reading)) };
      },
    });
  } finally {
    await registry.close();
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
    version,
  };
}
