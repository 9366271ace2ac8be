import type { ConfigError } from '#contract';
import type { SecretValues } from '../../config/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import type { Registry } from '../../registry/registry.ts';
import { standalone } from '../../runtime/build/build.ts';
import { ReadFiles } from '../../runtime/prints/read-files.ts';
import { systemTimers } from '../../runtime/watch/timers.ts';
import { type Resolving, resolveSecrets } from './resolve-secrets.ts';

/**
 * Fetches the secrets that a document refers to, and keeps nothing.
 * @param pluginFolder see `Overrides.plugins`.
 * @returns errors instead of values if a secret is not available.
 */
export async function fetchForCheck(
  data: unknown,
  pluginFolder: string | undefined,
  registry: Registry,
): Promise<{ readonly values: SecretValues; readonly errors: readonly ConfigError[] }> {
  const context = standalone(registry);
  const resolving: Resolving = {
    context,
    files: new ReadFiles(),
    secretFiles: new ReadFiles(),
    pluginFolder,
    signal: new AbortController().signal,
    timers: systemTimers,
    log: registry.services.log,
    serving: null,
    fetches: 'all',
    isStart: false,
    given: null,
    isTolerant: false,
  };
  try {
    const held = await resolveSecrets(data, resolving);
    await held?.stores.close();
    return { values: held?.values ?? new Map(), errors: [] };
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    return { values: new Map(), errors: error.errors };
  }
}
