import type { Site } from '#contract';
import type { KeyServerConfig } from './schema.ts';

/**
 * Checks for key settings that would have no effect, or an unexpected effect. Configuration fault: `KEYS_SECRET`;
 * warning: `KEYS_UNUSED`.
 * @throws ConfigError
 */
export function checkKeyFields(site: Site<KeyServerConfig>): void {
  const { config } = site;
  const local = config.jwk_local_path !== undefined;
  if ((config.secret_url === undefined) !== (config.cypher_key === undefined)) {
    const [there, missing] = config.secret_url ? ['secret_url', 'cypher_key'] : ['cypher_key', 'secret_url'];
    throw site.fault('KEYS_SECRET', `/${there}`, `${there} has no effect without ${missing}`);
  }
  if (config.secret_url !== undefined && !local) {
    throw site.fault('KEYS_SECRET', '/secret_url', 'secret_url decrypts a file, but jwk_local_path is missing');
  }
  if (!local) return;
  for (const [name, isWritten] of [
    ['jwk_fingerprints', config.jwk_fingerprints.length > 0],
    ['jwk_local_ca', config.jwk_local_ca !== undefined],
  ] as const) {
    if (isWritten) site.warn('KEYS_UNUSED', `/${name}`, `${name} has no effect with jwk_local_path`);
  }
}
