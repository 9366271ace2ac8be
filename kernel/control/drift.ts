import type { SecretValues } from '../config/index.ts';
import type { Registry } from '../registry/registry.ts';
import { type Overrides, readConfig } from '../runtime/build/read-config.ts';
import { takeFingerprint } from '../runtime/prints/fingerprint.ts';
import { ReadFiles } from '../runtime/prints/read-files.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { hasSameFiles, isSame } from './same-configuration.ts';
import { readSnapshot } from './snapshot.ts';

/** The serving configuration, and the settings with which its file would be read again. */
export interface Compared {
  readonly serving: Runtime;
  /** SHA-256 of the text of the serving configuration. */
  readonly textHash: string;
  readonly overrides: Overrides;
  readonly registry: Registry;
  readonly secrets: SecretValues | undefined;
}

/**
 * True if reading the configuration file now would result in another configuration than the active one, or in errors.
 */
export async function differsFromFile(
  path: string,
  { serving, textHash, overrides, registry, secrets }: Compared,
): Promise<boolean> {
  try {
    const read = await readSnapshot(path);
    const files = new ReadFiles();
    if (read.textHash === textHash) return !hasSameFiles(serving, files);
    const { config, errors } = await readConfig(read.data, overrides, registry, files, null, secrets);
    return errors.length > 0 || !isSame(serving, await takeFingerprint(config, await serving.fingerprinted()), files);
  } catch {
    return true;
  }
}
