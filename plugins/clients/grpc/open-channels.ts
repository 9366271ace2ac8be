import type { Site } from '#contract';
import type { PreparedTls } from '../tls/client-tls.ts';
import { Channels } from './channels.ts';

const DEFAULT_KEEP_ALIVE_MS = 15_000;
const DEFAULT_FALLBACK_MS = 300;

/**
 * Opens the channels of a component. Places with equal settings share them, also across reloads.
 * @param tls null for plain HTTP/2.
 */
export function openChannels(site: Site<unknown>, tls: PreparedTls | null): Channels {
  const { setting } = site;
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
