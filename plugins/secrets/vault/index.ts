// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { hash } from 'node:crypto';
import { type AtService, atService, definePlugin, type Site } from '#contract';
import { httpUrl } from '../../shared/calls/http-url.ts';
import { isLocal } from '../../shared/calls/local-url.ts';
import { readVaultSecret, renewVaultLease } from './read-secret.ts';
import { loginOf, missingFields, schema, type VaultConfig } from './schema.ts';
import { Session } from './session.ts';

/**
 * Secrets in HashiCorp Vault, OpenBao and other servers with the same API.
 *
 * Errors: `VAULT_ADDRESS`, `VAULT_AUTH`; a warning `VAULT_INSECURE`; of calls `VAULT_STATUS`, `VAULT_PATH`, `VAULT_REDIRECT`, `VAULT_LOGIN`,
 * `VAULT_SECRET`.
 */
export const plugin = definePlugin({
  name: 'secrets/vault',
  description:
    'Fetches secrets from HashiCorp Vault or OpenBao: `${vault:kv/orders#token}` is a field of a secret. Leases are renewed, other secrets are fetched again at an interval, and a new value is applied like a change of the configuration.',
  independent: true,
  places: [atService(schema, attach)],
});

function attach(site: Site<VaultConfig>): AtService {
  const { config } = site;
  const address = httpUrl(config.address);
  if (!address) throw site.fault('VAULT_ADDRESS', '/address', `"${config.address}" is not an http or https URL`);
  const missing = missingFields(config.auth);
  if (missing) {
    const message = `the login method "${config.auth.method}" requires "${missing.join('" or "')}"`;
    throw site.fault('VAULT_AUTH', '/auth', message);
  }
  const tls = config.client_tls && { tls: { settings: config.client_tls, at: '/client_tls' } };
  const calls = [{ address: address.origin, at: '/address' }];
  const send = site.http({ ofService: true, followsRedirects: false, calls, ...tls });
  const server = { send, address, namespace: config.namespace, log: site.log, timeoutMs: config.timeout };
  if (address.protocol === 'http:' && !isLocal(address)) {
    site.warn('VAULT_INSECURE', '/address', 'tokens and secrets are sent without TLS', { hint: 'Use an https URL.' });
  }
  const identity = hash('sha256', JSON.stringify([address.href, config.namespace, config.auth]), 'base64');
  const session = site.keep(['session', identity], () => new Session(loginOf(config.auth)));
  return {
    secrets: {
      refreshMs: config.refresh_interval,
      startupMs: config.startup_timeout,
      fetch: (name, signal) => readVaultSecret(session, server, name, config.kv_version, signal),
      renew: (lease, signal) => renewVaultLease(session, server, lease, signal),
      keepAlive: (signal) => session.keepAlive(server, signal),
    },
  };
}
