import { type BackendSite, joinPointer } from '#contract';
import { addressOf, type Channels } from '../../clients/grpc/channels.ts';
import { openChannels } from '../../clients/grpc/open-channels.ts';
import { prepareTls, type TlsClient } from '../../clients/tls/client-tls.ts';
import type { Config } from './schema.ts';

/**
 * Opens the channels of a backend.
 * @throws ConfigError `GRPC_HOST`, and errors for unusable TLS settings. Warning `GRPC_PLAINTEXT`.
 */
export function channelsOf(site: BackendSite<Config>): Channels {
  const { config } = site;
  checkHosts(site);
  const tls = config.client_tls ? prepareTls(site, config.client_tls) : null;
  nameHosts(site, tls?.client ?? null);
  return openChannels(site, tls);
}

function nameHosts({ backend, connectsTo }: BackendSite<Config>, tls: TlsClient | null): void {
  if (backend.sd !== 'static') return;
  for (const [index, host] of backend.host.entries()) {
    const address = host.includes('{') ? undefined : addressOf(host, tls !== null);
    if (!address) continue;
    const { port } = address;
    connectsTo({ address: host, port, tls: tls && (() => ({ ...tls, ALPNProtocols: ['h2'] })) }, index);
  }
}

function checkHosts({ backend, config, fault, warn }: BackendSite<Config>): void {
  if (backend.sd !== 'static') return;
  for (const [index, host] of backend.host.entries()) {
    if (host.includes('{')) continue;
    if (!addressOf(host, false)) {
      throw fault('GRPC_HOST', '', `${host} is not a valid gRPC server address`, { hint: 'name:port, without a path' });
    }
    if (/^https:/i.test(host) && !config.client_tls) {
      warn('GRPC_PLAINTEXT', '', `${joinPointer('/host', index).slice(1)} uses https, but TLS is not configured`, {
        hint: '"client_tls": {}',
      });
    }
  }
}
