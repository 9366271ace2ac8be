import { type BackendSite, joinPointer } from '#contract';
import { prepareTls, type TlsClient } from '../../clients/tls/client-tls.ts';
import { addressOf, Channels } from './channels.ts';
import type { Config } from './schema.ts';

const DEFAULT_KEEP_ALIVE_MS = 15_000;
const DEFAULT_FALLBACK_MS = 300;

/**
 * Opens the channels of a backend. Backends with equal settings share them, also across reloads.
 * @throws ConfigError `GRPC_HOST` and those of `prepareTls`. Warning `GRPC_PLAINTEXT`.
 */
export function openChannels(site: BackendSite<Config>): Channels {
  const { config, setting } = site;
  checkHosts(site);
  const tls = config.client_tls ? prepareTls(site, config.client_tls) : null;
  nameHosts(site, tls?.client ?? null);
  const dial = {
    timeoutMs: setting('dialer_timeout'),
    keepAliveMs: setting('dialer_keep_alive') || DEFAULT_KEEP_ALIVE_MS,
    fallbackDelayMs: setting('dialer_fallback_delay') || DEFAULT_FALLBACK_MS,
  };
  const settings = { ...dial, denied: site.use('denied'), tls: tls && (() => tls.client) };
  return site.keep(
    ['channels', JSON.stringify(dial), tls?.fingerprint ?? null],
    () => new Channels(settings),
    (kept) => kept.close(),
  );
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
